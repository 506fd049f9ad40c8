package cli_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/cmd/freshet/cli"
)

var update = flag.Bool("update", false, "write the golden files anew")

const now = 1_700_000_000

const pageJSON = `{"items":[
 {"id":"doc_9527","title":"A river in spring","update_time":1699999970,"tags":["water","spring","nature"]},
 {"id":"a/very/long:identifier_of_an_item_that_nobody_can_remember","title":"冬の朝、川はゆっくりと流れる。そして春が来る前に、すべてが静かになる","update_time":1699990000,"tags":["水"]},
 {"id":"x","title":"evil \u001b[31mred\u001b[0m and\nnew line \u202e backwards 👩‍👩‍👧 family","update_time":1600000000},
 {"id":"tomorrow","title":"` + "A title that goes on and on, because somebody could not stop writing when it was time to do so" + `","update_time":1700090000,"tags":["one","two","three","four","five","six","seven"]}
],"has_more":true,"degraded":["dedup","session"],"request_id":"r-1"}`

func TestWritePage(t *testing.T) {
	tests := map[string]struct {
		data  string
		width int
	}{
		"whole":  {pageJSON, 0},
		"wide":   {pageJSON, 120},
		"narrow": {pageJSON, 72},
		"tiny":   {pageJSON, 30},
		"empty":  {`{"items":[],"has_more":false}`, 80},
		"silent": {`{"items":[{"id":"n","title":"News","update_time":1699999999}],"has_more":false,"new_count":42}`, 80},
		"none":   {`{"items":[],"has_more":true,"new_count":0}`, 80},
		"why": {`{"items":[{"id":"a","title":"A river","update_time":1699999940,"tags":["water"],"in_feed":{"why":[{"type":"interest","value":"water"},{"type":"fresh"}]}},
 {"id":"b","title":"A comet","update_time":1699990000,"tags":["space"]}],"has_more":false}`, 80},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var page client.Page
			require.NoError(t, json.Unmarshal([]byte(tt.data), &page))
			var out strings.Builder
			require.NoError(t, cli.WritePage(&out, page, name == "why", time.Unix(now, 0), tt.width))
			for _, line := range strings.Split(out.String(), "\n") {
				if tt.width > 0 && !strings.Contains(line, "has_more") {
					assert.LessOrEqual(t, uniseg.StringWidth(line), tt.width, line)
				}
				assert.NotContains(t, line, "\x1b")
			}
			golden := filepath.Join("testdata", "page-"+name+".txt")
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(out.String()), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), out.String())
		})
	}
}

func TestAge(t *testing.T) {
	for seconds, want := range map[int64]string{
		0: "0s", 59: "59s", 60: "1m", 3599: "59m", 3600: "1h", 86399: "23h", 86400: "1d", 364 * 86400: "364d", 400 * 86400: "1y", -7200: "-2h",
	} {
		assert.Equal(t, want, cli.Age(seconds))
	}
}
