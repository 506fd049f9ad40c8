package mirror

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// forger changes what BF.SCANDUMP answers.
type forger struct {
	forge func(iter int64, dump redis.ScanDump) redis.ScanDump
}

func (f forger) DialHook(next redis.DialHook) redis.DialHook { return next }
func (f forger) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (f forger) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if dump, ok := cmd.(*redis.ScanDumpCmd); ok && err == nil {
			iter := dump.Args()[2].(int64)
			dump.SetVal(f.forge(iter, dump.Val()))
		}
		return err
	}
}

func TestWrongCopiesTurnTheMirrorOff(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	change := func(data string, at int, to byte) string {
		raw := []byte(data)
		raw[at] = to
		return string(raw)
	}
	for _, test := range []struct {
		name  string
		forge func(iter int64, d redis.ScanDump) redis.ScanDump
	}{
		{"a hash less", func(iter int64, d redis.ScanDump) redis.ScanDump {
			if iter == 0 {
				d.Data = change(d.Data, headerSize+40, d.Data[headerSize+40]-2)
			}
			return d
		}},
		{"a longer header", func(iter int64, d redis.ScanDump) redis.ScanDump {
			if iter == 0 {
				d.Data += "\x00"
			}
			return d
		}},
		{"32-bit hashes", func(iter int64, d redis.ScanDump) redis.ScanDump {
			if iter == 0 {
				d.Data = change(d.Data, 12, optNoRound)
			}
			return d
		}},
		{"no bits at all", func(iter int64, d redis.ScanDump) redis.ScanDump {
			if iter > 0 {
				d.Data = strings.Repeat("\x00", len(d.Data))
			}
			return d
		}},
		{"all bits", func(iter int64, d redis.ScanDump) redis.ScanDump {
			if iter > 0 {
				d.Data = strings.Repeat("\xff", len(d.Data))
			}
			return d
		}},
		{"bits counted from the other end", func(iter int64, d redis.ScanDump) redis.ScanDump {
			if raw := []byte(d.Data); iter > 0 {
				for i, b := range raw {
					raw[i] = b>>7&1 | b>>5&2 | b>>3&4 | b>>1&8 | b<<1&16 | b<<3&32 | b<<5&64 | b<<7&128
				}
				d.Data = string(raw)
			}
			return d
		}},
		{"a piece too short", func(iter int64, d redis.ScanDump) redis.ScanDump {
			if iter > 0 && len(d.Data) > 0 {
				d.Data = d.Data[8:]
			}
			return d
		}},
		{"a piece empty", func(iter int64, d redis.ScanDump) redis.ScanDump {
			if iter > 0 {
				d.Data = ""
			}
			return d
		}},
		{"one byte in twenty", func(iter int64, d redis.ScanDump) redis.ScanDump {
			if raw := []byte(d.Data); iter > 0 {
				for i := 0; i < len(raw); i += 20 {
					raw[i] ^= byte(1 << random.IntN(8))
				}
				d.Data = string(raw)
			}
			return d
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, client, log := openMirrored(t, nil)
			week(t, s, noon)
			want := verdicts(t, s, noon, "u_1", groupNames(0, 80)...)
			s.mirror.master = hooked
			client.AddHook(forger{test.forge})
			require.NoError(t, s.mirror.bring(t.Context(), noon))
			assert.Contains(t, log.String(), "cannot be mirrored")
			assert.Empty(t, mirroredDays(s))
			assert.Equal(t, want, verdicts(t, s, noon, "u_1", groupNames(0, 80)...))
			require.NoError(t, s.mirror.bring(t.Context(), noon.AddDate(0, 0, 1)))
			assert.Empty(t, mirroredDays(s), "off for good")
		})
	}
}
