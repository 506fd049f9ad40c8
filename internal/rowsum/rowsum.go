// Package rowsum computes checksums of sets of rows that do not depend on the order of the rows, so
// that a table can be compared with its copy without sorting either.
package rowsum

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/bits"
)

// Sum is the number of rows and the sum of their SHA-256 hashes, modulo 2^256. The zero value is that
// of no rows.
type Sum struct {
	Rows  int64
	words [4]uint64
}

// Add adds a row. Rows that are equal count each.
func (s *Sum) Add(row []byte) {
	hash := sha256.Sum256(row)
	var carry uint64
	for i := range s.words {
		s.words[i], carry = bits.Add64(s.words[i], binary.LittleEndian.Uint64(hash[8*i:]), carry)
	}
	s.Rows++
}

// String returns the sum of the hashes in hexadecimal.
func (s *Sum) String() string {
	var b [32]byte
	for i, w := range s.words {
		binary.LittleEndian.PutUint64(b[8*i:], w)
	}
	return hex.EncodeToString(b[:])
}

// Append appends the values of a row, so that different rows differ: each value with its type and its
// length. Values are those that a driver of database/sql returns for numbers, texts and bytes.
func Append(row []byte, values ...any) []byte {
	for _, value := range values {
		switch v := value.(type) {
		case nil:
			row = append(row, 'n')
		case int64:
			row = binary.LittleEndian.AppendUint64(append(row, 'i'), uint64(v))
		case float64:
			row = binary.LittleEndian.AppendUint64(append(row, 'f'), math.Float64bits(v))
		case string:
			row = binary.AppendUvarint(append(row, 't'), uint64(len(v)))
			row = append(row, v...)
		case []byte:
			row = binary.AppendUvarint(append(row, 'b'), uint64(len(v)))
			row = append(row, v...)
		case bool:
			row = append(row, 'o', map[bool]byte{true: 1}[v])
		default:
			row = append(row, '?')
		}
	}
	return row
}
