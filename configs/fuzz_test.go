package configs_test

import (
	"bytes"
	"testing"

	"github.com/freshet/freshet/configs"
)

// A configuration that loads must be valid, and its printed form must load as the same
// configuration.
func FuzzParse(f *testing.F) {
	f.Add(configs.Embedded)
	f.Add(configs.Services)
	f.Add([]byte("server: {addr: 127.0.0.1:1, request_timeout: 0}\nredis: {addrs: [a:1]}\n"))
	f.Add([]byte("a: &x {b: *x}\n? [k]\n: 1\n"))
	f.Add([]byte("1: {2: 3}\ntrue: null\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := configs.Parse("fuzz", data)
		if err != nil {
			return
		}
		if err := c.Validate(); err != nil {
			t.Fatalf("what loaded is not valid: %v", err)
		}
		var first, second bytes.Buffer
		if err := configs.Print(&first, c); err != nil {
			t.Fatal(err)
		}
		again, err := configs.Parse("printed", first.Bytes())
		if err != nil {
			t.Fatalf("what was printed does not load: %v\n%s", err, first.String())
		}
		if err := configs.Print(&second, again); err != nil {
			t.Fatal(err)
		}
		if first.String() != second.String() {
			t.Fatalf("printed first:\n%s\nand then:\n%s", first.String(), second.String())
		}
	})
}
