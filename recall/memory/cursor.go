package memory

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/freshet/freshet/recall"
)

// cursor is the place of the last candidate of a round in the order of all
// candidates: the next round begins behind it.
type cursor struct {
	score float32
	time  int64
	id    string
}

// cursorVersion is the first byte of a cursor, so that another source's cursor
// or an older form is refused.
const cursorVersion = 'm'

const cursorHead = 1 + 4 + 8 // version, score, time; the id follows

func (c cursor) String() string {
	b := make([]byte, 0, cursorHead+len(c.id))
	b = append(b, cursorVersion)
	b = binary.BigEndian.AppendUint32(b, math.Float32bits(c.score))
	b = binary.BigEndian.AppendUint64(b, uint64(c.time))
	b = append(b, c.id...)
	return base64.RawURLEncoding.EncodeToString(b)
}

func parseCursor(s string) (cursor, error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) <= cursorHead || b[0] != cursorVersion {
		return cursor{}, fmt.Errorf("%w: %.40q was not given out by the memory source; begin again without a cursor", recall.ErrBadCursor, s)
	}
	c := cursor{
		score: math.Float32frombits(binary.BigEndian.Uint32(b[1:])),
		time:  int64(binary.BigEndian.Uint64(b[5:])),
		id:    string(b[cursorHead:]),
	}
	if !(c.score >= 0) {
		return cursor{}, fmt.Errorf("%w: its score is not one; begin again without a cursor", recall.ErrBadCursor)
	}
	return c, nil
}
