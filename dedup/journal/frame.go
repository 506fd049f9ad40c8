// Package journal stores impressions in an append-only file, so that deliveries survive when the
// process is killed. A file is an eight-byte header followed by frames:
//
//	length  uint32, little endian, of the payload; 1 to MaxFrame
//	crc     uint32, little endian, CRC-32C of the payload
//	payload kind uint8, time int64 (Unix ms, little endian),
//	        agent and then one or more groups, each a uvarint length and bytes
//
// An append is one write, so a killed process loses at most the append in progress, which had not
// been acknowledged. The file is synced to the disk once a second: a power cut loses at most that
// last second.
//
// [Recover] reads a file back and repairs it. An incompletely written tail is cut off. If good
// frames follow the damage, the good beginning is kept and everything else is moved to a separate
// file.
package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Kind is the type of event an entry reports.
type Kind uint8

const (
	Seen     Kind = 1 // recorded as an impression
	Served   Kind = 2 // delivered, and delivering is the impression
	Offered  Kind = 3 // delivered, but it becomes an impression only when the client reports it
	Released Kind = 4 // taken back: cancels an earlier Served or Offered
)

func (k Kind) valid() bool { return k >= Seen && k <= Released }

// Entry is one event that happened to some groups of one agent.
type Entry struct {
	Kind   Kind
	At     int64 // Unix milliseconds
	Agent  string
	Groups []string
}

// MaxFrame is the largest payload of a frame, in bytes. An entry with more groups is split into
// several frames.
const MaxFrame = 1 << 20

// maxPart is the maximum length of an agent or group, in bytes: far more than an id may have, far
// less than a frame holds.
const maxPart = 64 << 10

const frameHeader = 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendEntry encodes the entry as one or more frames. An entry without groups has no frames.
func appendEntry(buf []byte, e Entry) ([]byte, error) {
	if !e.Kind.valid() {
		return buf, fmt.Errorf("journal entry of unknown kind %d", e.Kind)
	}
	if len(e.Agent) > maxPart {
		return buf, fmt.Errorf("id is too long for the journal: agent of %d bytes", len(e.Agent))
	}
	for groups := e.Groups; len(groups) > 0; {
		start := len(buf)
		buf = append(buf, make([]byte, frameHeader)...)
		buf = append(buf, byte(e.Kind))
		buf = binary.LittleEndian.AppendUint64(buf, uint64(e.At))
		buf = appendPart(buf, e.Agent)
		n := 0
		for n < len(groups) && len(buf)-start-frameHeader+binary.MaxVarintLen32+len(groups[n]) <= MaxFrame {
			if len(groups[n]) > maxPart {
				return buf[:start], fmt.Errorf("id is too long for the journal: group of %d bytes", len(groups[n]))
			}
			buf = appendPart(buf, groups[n])
			n++
		}
		if n == 0 {
			return buf[:start], fmt.Errorf("id is too long for the journal: group of %d bytes", len(groups[0]))
		}
		groups = groups[n:]
		payload := buf[start+frameHeader:]
		binary.LittleEndian.PutUint32(buf[start:], uint32(len(payload)))
		binary.LittleEndian.PutUint32(buf[start+4:], crc32.Checksum(payload, castagnoli))
	}
	return buf, nil
}

func appendPart(buf []byte, s string) []byte {
	buf = binary.AppendUvarint(buf, uint64(len(s)))
	return append(buf, s...)
}

// frameLength returns the payload length that the frame at the start of b declares, and whether
// that length is valid and the frame fits in size bytes.
func frameLength(b []byte, size int64) (int, bool) {
	if len(b) < frameHeader {
		return 0, false
	}
	n := int64(binary.LittleEndian.Uint32(b))
	return int(n), n > 0 && n <= MaxFrame && n <= size-frameHeader
}

// decodeFrame reads the frame at the start of b and returns the number of bytes it takes. Every
// length is checked against the available bytes before it is used.
func decodeFrame(b []byte) (Entry, int, error) {
	n, ok := frameLength(b, int64(len(b)))
	if !ok {
		return Entry{}, 0, errors.New("bad frame: it is cut short or its length is out of bounds")
	}
	payload := b[frameHeader : frameHeader+n]
	if crc32.Checksum(payload, castagnoli) != binary.LittleEndian.Uint32(b[4:]) {
		return Entry{}, 0, errors.New("bad frame: its checksum is wrong")
	}
	e, err := decodePayload(payload)
	return e, frameHeader + n, err
}

func decodePayload(b []byte) (Entry, error) {
	if len(b) < 9 || !Kind(b[0]).valid() {
		return Entry{}, errors.New("bad frame: unknown kind")
	}
	e := Entry{Kind: Kind(b[0]), At: int64(binary.LittleEndian.Uint64(b[1:]))}
	agent, rest, ok := cutPart(b[9:])
	if !ok {
		return Entry{}, errors.New("bad frame: the agent is cut short")
	}
	e.Agent = string(agent)
	for len(rest) > 0 {
		var group []byte
		group, rest, ok = cutPart(rest)
		if !ok {
			return Entry{}, errors.New("bad frame: a group is cut short")
		}
		e.Groups = append(e.Groups, string(group))
	}
	if len(e.Groups) == 0 {
		return Entry{}, errors.New("bad frame: it has no groups")
	}
	return e, nil
}

func cutPart(b []byte) (part, rest []byte, ok bool) {
	n, w := binary.Uvarint(b)
	if w <= 0 || n > uint64(len(b)-w) {
		return nil, nil, false
	}
	return b[w : w+int(n)], b[w+int(n):], true
}
