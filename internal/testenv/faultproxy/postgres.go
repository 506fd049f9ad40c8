package faultproxy

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"testing"
)

// StartPostgres starts a proxy in front of a PostgreSQL server that runs until the test ends. A
// request consists of the messages of a client until it waits for the server: a simple query, or
// the messages up to a sync. Its words are "query" and the text, or "sync" and the texts that are
// parsed in it. TLS is not supported.
func StartPostgres(t testing.TB, server string) *Proxy {
	t.Helper()
	return start(t, func() protocol { return &pgProtocol{} }, server)
}

// The message types that the proxy interprets.
const (
	pgQuery     = 'Q'
	pgParse     = 'P'
	pgSync      = 'S'
	pgTerminate = 'X'
	pgReady     = 'Z'
)

// maxMessage is the largest accepted length of a message, in bytes.
const maxMessage = 1 << 28

// pgProtocol parses PostgreSQL's protocol, version 3, of one connection.
type pgProtocol struct{ started bool }

func (p *pgProtocol) request(r *bufio.Reader) (frame []byte, cmd Command, err error) {
	var b bytes.Buffer
	if !p.started { // the first message has no type
		p.started = true
		if err := copyMessage(&b, r); err != nil {
			return nil, nil, err
		}
		return b.Bytes(), Command{"startup"}, nil
	}
	cmd = Command{"sync"}
	for {
		kind, body, err := readMessage(&b, r)
		if err != nil {
			return nil, nil, err
		}
		switch kind {
		case pgQuery:
			return b.Bytes(), Command{"query", cString(body)}, nil
		case pgTerminate:
			return b.Bytes(), Command{"terminate"}, nil
		case pgParse: // the statement's name, then its text
			_, rest, _ := bytes.Cut(body, []byte{0})
			cmd = append(cmd, cString(rest))
		case pgSync:
			return b.Bytes(), cmd, nil
		}
	}
}

// reply reads until the server waits for the client.
func (p *pgProtocol) reply(r *bufio.Reader) ([]byte, error) {
	var b bytes.Buffer
	for {
		kind, _, err := readMessage(&b, r)
		if err != nil {
			return nil, err
		}
		if kind == pgReady {
			return b.Bytes(), nil
		}
	}
}

// readMessage copies a message and returns its type and its body.
func readMessage(b *bytes.Buffer, r *bufio.Reader) (kind byte, body []byte, err error) {
	if kind, err = r.ReadByte(); err != nil {
		return 0, nil, err
	}
	b.WriteByte(kind)
	from := b.Len()
	if err := copyMessage(b, r); err != nil {
		return 0, nil, err
	}
	return kind, b.Bytes()[from+4:], nil
}

// copyMessage copies a length and the body of that length.
func copyMessage(b *bytes.Buffer, r *bufio.Reader) error {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n < 4 || n > maxMessage {
		return fmt.Errorf("%w: a message of %d bytes", errFrame, n)
	}
	b.Write(length[:])
	_, err := io.CopyN(b, r, int64(n)-4)
	return err
}

func cString(raw []byte) string {
	text, _, _ := bytes.Cut(raw, []byte{0})
	return string(text)
}
