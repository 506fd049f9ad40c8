package feed

import "encoding/json"

// AppendString appends a string as JSON, as [json.Marshal] writes it. Most strings need no escapes and
// are copied.
func AppendString(b []byte, s string) []byte {
	for _, c := range []byte(s) {
		switch {
		case c < ' ', c > '~', c == '"', c == '\\', c == '<', c == '>', c == '&':
			raw, err := json.Marshal(s)
			if err != nil { // impossible for a string
				panic(err)
			}
			return append(b, raw...)
		}
	}
	b = append(append(b, '"'), s...)
	return append(b, '"')
}
