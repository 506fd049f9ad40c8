package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const explainedAnswer = `{"code":0,"msg":"success","data":{"agent_id":"u_1","limit":5,"variant":"control","origin":"2026-03-06T12:00:00Z",` +
	`"ranking":{},"candidates":[{"rank":1,"id":"doc_1","title":"A river","age":60,"score":0.1,"decay":1,"outcome":"paged"}],` +
	`"item":{"rank":1,"id":"doc_1","title":"A river","outcome":"paged","reason":"It ranks 1 of 1."},"counts":{"recalled":1,"paged":1}}}`

func TestExplain(t *testing.T) {
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = r.Header.Get("Authorization") + string(body)
		_, _ = io.WriteString(w, explainedAnswer)
	}))
	defer server.Close()
	for name, tt := range map[string]struct {
		args  []string
		asked string
		says  string
	}{
		"agent": {[]string{}, `{"agent_id":"u_1","feed":"for_you","limit":20}`, "It ranks 1 of 1."},
		"all flags": {
			[]string{"--limit", "5", "--item", "doc_1", "--set", "scale=72h,weight=0.5", "--at", "2026-03-06T13:00:00+01:00", "--token", "tok-"},
			`Bearer tok-{"agent_id":"u_1","feed":"for_you","limit":5,"item":"doc_1","ranking":{"decay":{"scale":"72h"},"popularity":{"weight":0.5}},"at":"2026-03-06T12:00:00Z"}`,
			"It ranks 1 of 1.",
		},
		"Unix seconds": {[]string{"--at", "1772798400"}, `{"agent_id":"u_1","feed":"for_you","limit":20,"at":"2026-03-06T12:00:00Z"}`, "It ranks"},
		"a fraction":   {[]string{"--at", "1772798400.5"}, `{"agent_id":"u_1","feed":"for_you","limit":20,"at":"2026-03-06T12:00:00.5Z"}`, "It ranks"},
		"as JSON":      {[]string{"--json"}, `{"agent_id":"u_1","feed":"for_you","limit":20}`, `"candidates":[{"rank":1,"id":"doc_1"`},
	} {
		t.Run(name, func(t *testing.T) {
			r := freshet(t, "", append([]string{"explain", "--server", server.URL, "--agent", "u_1"}, tt.args...)...)
			require.Equal(t, exitOK, r.code, r.errs)
			assert.Equal(t, tt.asked, asked)
			assert.Contains(t, r.out, tt.says)
		})
	}
}

func TestExplainUsage(t *testing.T) {
	for says, args := range map[string][]string{
		"--agent is required":     {},
		"--agent: bad id":         {"--agent", "a b"},
		"--item: bad id":          {"--agent", "u_1", "--item", "a b"},
		"unknown parameter":       {"--agent", "u_1", "--set", "speed=3"},
		"must be a duration":      {"--agent", "u_1", "--set", "scale=3 days"},
		"--at must be a time":     {"--agent", "u_1", "--at", "yesterday"},
		"the server must be":      {"--agent", "u_1", "--server", "nowhere"},
		`unknown command "doc_1"`: {"--agent", "u_1", "doc_1"},
	} {
		r := freshet(t, "", append([]string{"explain"}, args...)...)
		assert.Equal(t, exitUsage, r.code, says)
		assert.Contains(t, r.errs, says)
		assert.Contains(t, r.errs, "freshet explain --help")
	}
}
