package cli_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/cmd/freshet/cli"
)

func TestWriteGuestPage(t *testing.T) {
	t.Parallel()
	var page client.GuestPage
	require.NoError(t, json.Unmarshal([]byte(`{"items":[
		{"id":"a","title":"First","update_time":1772798100,"tags":["go","x"],"in_feed":{"source":"trending","trend":"hot"}},
		{"id":"b","title":"Second","update_time":1772791200,"in_feed":{"source":"trending"}},
		{"id":"ad","title":"Buy","update_time":1772791200,"in_feed":{"source":"promoted","is_promoted":true}}
	],"degraded":["trending"]}`), &page))
	var out bytes.Buffer
	require.NoError(t, cli.WriteGuestPage(&out, page, time.Unix(1772798400, 0), 0))
	assert.Equal(t, `#  AGE  TREND     ID  TITLE   TAGS
1   5m  hot       a   First   go, x
2   2h            b   Second
3   2h  promoted  ad  Buy
items=3, degraded=trending
`, out.String())
	out.Reset()
	require.NoError(t, cli.WriteGuestPage(&out, client.GuestPage{}, time.Unix(1772798400, 0), 0))
	assert.Equal(t, "items=0\n", out.String())
}
