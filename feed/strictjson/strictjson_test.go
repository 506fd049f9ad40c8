package strictjson

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	errBad   = errors.New("bad")
	errLimit = errors.New("bad limit")
	errID    = errors.New("bad id")
)

var kinds = Errors{"": errBad, "limit": errLimit, "ids[]": errID, "id": errID}

type upper string

func (u *upper) UnmarshalJSON(data []byte) error {
	if *u = upper(strings.Trim(string(data), `"`)); string(*u) != strings.ToUpper(string(*u)) {
		return errors.New("must be in capitals")
	}
	return nil
}

type entry struct {
	ID    string `json:"id"`
	Upper upper  `json:"upper"`
}

type body struct {
	Limit   int                        `json:"limit"`
	Text    string                     `json:"text"`
	Flag    bool                       `json:"flag"`
	Share   *float64                   `json:"share"`
	IDs     []string                   `json:"ids"`
	Weights map[string]float64         `json:"weights"`
	Entries []entry                    `json:"entries"`
	Raw     json.RawMessage            `json:"raw"`
	Any     map[string]json.RawMessage `json:"any"`
}

func TestUnmarshalReads(t *testing.T) {
	t.Parallel()
	got := body{Limit: 20, Text: "kept"}
	require.NoError(t, Unmarshal([]byte(" {\n\"share\":0.5,\"ids\":[\"a\\/b\"],\"weights\":{\"go\":1e1},\"\\u0072aw\":[1.50,null],\"entries\":[{\"upper\":\"A\"}]}\t"), &got, kinds))
	half := 0.5
	require.Equal(t, body{
		Limit: 20, Text: "kept", Share: &half, IDs: []string{"a/b"}, Weights: map[string]float64{"go": 10},
		Raw: json.RawMessage(`[1.50,null]`), Entries: []entry{{Upper: "A"}},
	}, got)
}

func TestUnmarshalNullIsAbsent(t *testing.T) {
	t.Parallel()
	got := body{Limit: 20, Text: "kept"}
	require.NoError(t, Unmarshal([]byte(`{"limit":null,"text":null,"share":null,"ids":null,"weights":null,"entries":[{"id":null,"upper":null}],"raw":null,"any":{"x":null}}`), &got, kinds))
	require.Equal(t, body{
		Limit: 20, Text: "kept", Entries: []entry{{}}, Raw: json.RawMessage(`null`), Any: map[string]json.RawMessage{"x": json.RawMessage(`null`)},
	}, got)
}

func TestUnmarshalWholeNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{`1.0`: 1, `1e3`: 1000, `-2.50e1`: -25, `0e0`: 0, `9007199254740992.0`: 1 << 53, `9007199254740993`: 1<<53 + 1} {
		for _, with := range []string{"", `,"text":null`} {
			var got body
			require.NoError(t, Unmarshal([]byte(`{"limit":`+text+with+`}`), &got, kinds), text)
			require.Equal(t, want, got.Limit, text)
		}
	}
}

func TestUnmarshalRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		json, says string
		is         error
	}{
		{"", "bad: the JSON is empty; send an object", errBad},
		{" \n", "bad: the JSON is empty; send an object", errBad},
		{"null", "bad: the JSON must be an object, not null", errBad},
		{"[]", "bad: the JSON must be an object, not an array", errBad},
		{"nul", "bad: bad JSON: unexpected end at byte 3", errBad},
		{`{"limit":1`, "bad: bad JSON: unexpected end at byte 10", errBad},
		{`{"limit":1}}`, "bad: bad JSON at byte 11: invalid character '}' after top-level value", errBad},
		{`{"limit":01}`, "bad: bad JSON at byte 10", errBad},
		{`{"limit":"1"}`, "bad limit: limit must be a whole number, not a string; leave out the quotes", errLimit},
		{`{"limit": "2026-03-06T10:00:00Z"}`, "bad limit: limit must be a whole number, not a string; 2026-03-06T10:00:00Z is 1772791200 in Unix seconds", errLimit},
		{`{"text":"a","limit":"2026-03-06T11:00:00.5+01:00"}`, "2026-03-06T11:00:00.5+01:00 is 1772791200 in Unix seconds", errLimit},
		{`{"limit":"2026-03-06T11:00:00+0100"}`, "2026-03-06T11:00:00+0100 is 1772791200 in Unix seconds", errLimit},
		{`{"limit":"2026-03-06 10:00:00.57"}`, "2026-03-06 10:00:00.57 (UTC) is 1772791200 in Unix seconds", errLimit},
		{`{"limit":"2026-03-06"}`, "2026-03-06 (UTC) is 1772755200 in Unix seconds", errLimit},
		{`{"limit":"Fri, 06 Mar 2026 10:00:00 +0000"}`, "Fri, 06 Mar 2026 10:00:00 +0000 is 1772791200 in Unix seconds", errLimit},
		{`{"limit":1.5}`, "bad limit: limit must be a whole number, not 1.5", errLimit},
		{`{"limit":99999999999999999999}`, "bad limit: limit must be a whole number, not 99999999999999999999", errLimit},
		{`{"text":7}`, "bad: text must be a string, not a number", errBad},
		{`{"text":{}}`, "bad: text must be a string, not an object", errBad},
		{`{"flag":"true"}`, "bad: flag must be true or false, not a string", errBad},
		{`{"share":"10%"}`, "bad: share must be a number, not a string", errBad},
		{`{"share":1e999}`, "bad: share must be a number, not 1e999", errBad},
		{`{"ids":"a"}`, "bad: ids must be an array of strings, not a string", errBad},
		{`{"ids":["a",true]}`, "bad id: ids[1] must be a string, not a boolean", errID},
		{`{"weights":{"go":"1"}}`, "bad: weights.go must be a number, not a string", errBad},
		{`{"weights":[]}`, "bad: weights must be an object, not an array", errBad},
		{`{"entries":[{},{"id":1}]}`, "bad id: entries[1].id must be a string, not a number", errID},
		{`{"entries":[{"upper":"a"}]}`, "bad: entries[0].upper must be in capitals", errBad},
		{`{"limit":9007199254740994.0}`, "bad limit: limit must be a whole number, not 9007199254740994.0", errLimit},
		{`{"limit":1e-400}`, "bad limit: limit must be a whole number, not 1e-400", errLimit},
		{`{"limit":1.00000000000000000001}`, "bad limit: limit must be a whole number, not 1.00000000000000000001", errLimit},
		{`{"limit":15e-1}`, "bad limit: limit must be a whole number, not 15e-1", errLimit},
		{`{"ids":["a",null]}`, "bad id: ids[1] must be a string, not null", errID},
		{`{"entries":[null]}`, "bad: entries[0] must be an object, not null", errBad},
		{`{"weights":{"go":null}}`, "bad: weights.go must be a number, not null", errBad},
		{` null `, "bad: the JSON must be an object, not null", errBad},
		{`{"raw":[` + strings.Repeat(`{"\"[":[`, 50) + strings.Repeat("]}", 50) + `]}`, "bad: raw has more than 100 nested objects and arrays; nest fewer", errBad},
		{`{"limt":1}`, `bad: unknown field "limt"; known are limit, text, flag, share, ids, weights, entries, raw, any`, errBad},
		{`{"Limit":1}`, `bad: unknown field "Limit"`, errBad},
		{`{"entries":[{"ID":"a"}]}`, `bad: unknown field "ID" in entries[0]; known are id, upper`, errBad},
		{`{"` + strings.Repeat("x", 1000) + `":1}`, `bad: unknown field "` + strings.Repeat("x", 64) + `…"`, errBad},
		{`{"limit":1,"limit":1}`, `bad: duplicate field "limit"`, errBad},
		{`{"limit":1,"l\u0069mit":1}`, `bad: duplicate field "limit"`, errBad},
		{`{"entries":[{"id":"a","id":"a"}]}`, `bad: duplicate field "id" in entries[0]`, errBad},
		{`{"raw":{"a":{"b":1,"b":2}}}`, `bad: duplicate field "b" in raw.a`, errBad},
		{"{\"text\":\"\xff\"}", "bad: bad JSON at byte 9 in text: invalid UTF-8", errBad},
		{`{"text":"\ud800"}`, "bad: bad JSON at byte 9 in text: invalid surrogate pair", errBad},
		{"\xef\xbb\xbf{}", "bad: bad JSON at byte 0", errBad},
		{`{"raw":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, "exceeded max depth", errBad},
	} {
		t.Run(tt.json[:min(len(tt.json), 40)], func(t *testing.T) {
			t.Parallel()
			err := Unmarshal([]byte(tt.json), new(body), kinds)
			require.ErrorIs(t, err, tt.is)
			require.ErrorContains(t, err, tt.says)
			require.Less(t, len(err.Error()), 300)
		})
	}
}

func TestUnmarshalExactWholeNumbers(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]int{
		"0.0": 0, "-0": 0, "0e99999999999": 0, "1.50e1": 15, "1e+2": 100, "20E-1": 2, "0.0050e3": 5, "-7.0": -7, "100e-2": 1,
	} {
		got := body{Limit: 99}
		require.NoError(t, Unmarshal([]byte(`{"limit":`+number+`}`), &got, kinds), number)
		require.Equal(t, want, got.Limit, number)
	}
}

func TestFilled(t *testing.T) {
	t.Parallel()
	for _, object := range []string{`{}`, `{"text":"x"}`, `{"text":null,"raw":""}`, `{"raw":{"text":""}}`} {
		require.NoError(t, Filled([]byte(object), errBad, "text", "ids"), object)
	}
	require.EqualError(t, Filled([]byte(`{"ids":[], "text" : ""}`), errBad, "text", "ids"), "bad: text must not be empty; leave it out for its default")
	require.ErrorIs(t, Filled([]byte(`{"t\u0065xt":""}`), errBad, "text"), errBad)
}

func TestUnmarshalStoredOlderForms(t *testing.T) {
	t.Parallel()
	var got body
	require.NoError(t, UnmarshalStored([]byte(`{"raw":{"a":1,"a":2},"text":"\ud800","gone":1}`), &got))
	require.Equal(t, "\ufffd", got.Text)
	require.JSONEq(t, `{"a":2}`, string(got.Raw))
	require.ErrorContains(t, UnmarshalStored([]byte(`{"text":7}`), &got), "text must be a string, not a number")
}

// FuzzUnmarshal checks that accepted data means the same to encoding/json, and that every error is
// one of those named by the caller.
func FuzzUnmarshal(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"limit":1,"text":"a\u00e9","flag":true,"share":1e-3,"ids":["a"]}`, `{"weights":{"a":1},"entries":[{"id":"x","upper":"Y"}]}`,
		`{"raw":{"a":[1,"}"]},"any":{"b":null}}`, `{"limit":1.0}`, `{"limit":null,"ids":null}`, `{"limit":1,"limit":2}`, "{\"text\":\"\xff\"}", `null`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var got body
		if err := Unmarshal(data, &got, kinds); err != nil {
			require.True(t, errors.Is(err, errBad) || errors.Is(err, errLimit) || errors.Is(err, errID), "%v", err)
			return
		}
		require.True(t, json.Valid(data))
		again, err := json.Marshal(got)
		require.NoError(t, err)
		var back body
		require.NoError(t, Unmarshal(again, &back, kinds))
		require.Equal(t, got.Limit, back.Limit)
		require.Equal(t, got.Text, back.Text)
		require.Equal(t, got.IDs, back.IDs)
		require.Equal(t, got.Weights, back.Weights)
	})
}
