package esindex_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
)

func connect(t *testing.T) (esindex.Client, string) {
	t.Helper()
	address, index := testenv.Elastic(t)
	client, err := esindex.Connect(esindex.ClientConfig{Addresses: []string{address}})
	require.NoError(t, err)
	return client, index
}

func send(t *testing.T, client esindex.Client, method, path, body string) {
	t.Helper()
	require.NoError(t, esindex.Do(t.Context(), client, method, path, "", []byte(body), nil))
}

func TestEnsureConcurrent(t *testing.T) {
	client, index := connect(t)
	var all sync.WaitGroup
	var mu sync.Mutex
	made := map[string]int{}
	for range 4 {
		all.Go(func() {
			created, err := esindex.Ensure(t.Context(), client, index, esindex.Fields{})
			assert.NoError(t, err)
			mu.Lock()
			defer mu.Unlock()
			for _, name := range created {
				made[name]++
			}
		})
	}
	all.Wait()
	require.Equal(t, map[string]int{index: 1, esindex.Agents(index): 1, esindex.Rankings(index): 1}, made, "each is created by one")

	report, err := esindex.Inspect(t.Context(), client, index, esindex.Fields{})
	require.NoError(t, err)
	require.Empty(t, report.Problems)
	require.NoError(t, report.Err())
	require.Equal(t, []string{index}, report.Indices)
	own := esindex.OwnSchema(esindex.Fields{})
	own.UUIDs = report.Schema.UUIDs
	require.Equal(t, own, report.Schema)
	require.False(t, report.Schema.Mapped())
}

func TestEnsureWithMappedNames(t *testing.T) {
	client, index := connect(t)
	names := esindex.Fields{ID: esindex.MetaID, Title: "headline", AuthorID: "meta.author"}
	_, err := esindex.Ensure(t.Context(), client, index, names)
	require.NoError(t, err)
	report, err := esindex.Inspect(t.Context(), client, index, names)
	require.NoError(t, err)
	require.NoError(t, report.Err())
	require.Len(t, report.Problems, 1, "that _id is slow")
	own := esindex.OwnSchema(names)
	own.UUIDs = report.Schema.UUIDs
	require.Equal(t, own, report.Schema)
}

func TestEnsureKeepsAlias(t *testing.T) {
	client, index := connect(t)
	send(t, client, http.MethodPut, "/"+index+"-agents", `{"aliases":{"`+index+`":{}}}`)
	created, err := esindex.Ensure(t.Context(), client, index, esindex.Fields{})
	require.NoError(t, err)
	require.Equal(t, []string{esindex.Rankings(index)}, created)
}

func TestEnsureRefuses(t *testing.T) {
	client, _ := connect(t)
	for _, name := range []string{"", "a*", "a,b", "a/b"} {
		_, err := esindex.Ensure(t.Context(), client, name, esindex.Fields{})
		require.ErrorContains(t, err, "elasticsearch.index", name)
	}
	_, err := esindex.Ensure(t.Context(), client, "x", esindex.Fields{Title: "id"})
	require.ErrorContains(t, err, "both mapped")
}

func TestFieldsValidate(t *testing.T) {
	for _, c := range []struct {
		fields esindex.Fields
		want   string // part of the error; "" means none
	}{
		{esindex.Fields{}, ""},
		{esindex.Fields{ID: "_id", Title: "headline", Tags: "topics.keyword"}, ""},
		{esindex.Fields{Title: "summary"}, `title and summary are both mapped to "summary"`},
		{esindex.Fields{GroupID: "_id"}, "fields.group_id"},
		{esindex.Fields{Title: "head*"}, "fields.title"},
		{esindex.Fields{Lang: ".lang"}, "fields.lang"},
	} {
		err := c.fields.Validate()
		if c.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, c.want)
	}
}

// fitting has the properties of a fully usable index.
const fitting = `"id":{"type":"keyword"},"group_id":{"type":"keyword"},"title":{"type":"text"},"summary":{"type":"text"},
	"update_time":{"type":"date"},"author_id":{"type":"keyword"},"lang":{"type":"keyword"},"tags":{"type":"keyword"},
	"freshet_popularity":{"type":"long"},"freshet_site":{"type":"keyword","index":false},
	"freshet_sum_2h":{"type":"double"},"freshet_epoch_2h":{"type":"keyword"},"freshet_sum_2d":{"type":"double","index":false},"freshet_epoch_2d":{"type":"long"},
	"freshet_last_act":{"type":"long"},"freshet_count_2h":{"type":"double"},"freshet_count_2d":{"type":"double","index":false}`

func TestInspect(t *testing.T) {
	for _, c := range []struct {
		name    string
		replace string // a property that replaces one of fitting; "" removes it
		by      string
		fields  esindex.Fields
		fatal   string // part of the fatal problem; "" means none
		warning string
	}{
		{name: "fits"},
		{name: "no id", replace: `"id":{"type":"keyword"},`, fatal: "fields.id (id): the index has no such field"},
		{name: "id is text", replace: `"id":{"type":"keyword"}`, by: `"id":{"type":"text","fields":{"raw":{"type":"keyword"}}}`, fatal: "map its sub-field id.raw"},
		{name: "id without doc values", replace: `"id":{"type":"keyword"}`, by: `"id":{"type":"keyword","doc_values":false}`, fatal: "doc_values"},
		{name: "_id", fields: esindex.Fields{ID: "_id"}, warning: "costs more than the search"},
		{name: "no time", replace: `"update_time":{"type":"date"},`, fatal: "fields.update_time"},
		{name: "time is a keyword", replace: `"update_time":{"type":"date"}`, by: `"update_time":{"type":"keyword"}`, fatal: "a date or a number is required"},
		{name: "time is text", replace: `"update_time":{"type":"date"}`, by: `"update_time":{"type":"text"}`, fatal: "a date or a number is required"},
		{name: "time in nanoseconds", replace: `"update_time":{"type":"date"}`, by: `"update_time":{"type":"date_nanos"}`, fatal: "date_nanos"},
		{name: "days only", replace: `"update_time":{"type":"date"}`, by: `"update_time":{"type":"date","format":"yyyy-MM-dd"}`, fatal: "epoch_second"},
		{name: "time not indexed", replace: `"update_time":{"type":"date"}`, by: `"update_time":{"type":"date","index":false}`, fatal: "index and doc_values"},
		{name: "group is text", replace: `"group_id":{"type":"keyword"}`, by: `"group_id":{"type":"text"}`, fatal: "fields.group_id"},
		{name: "no group", replace: `"group_id":{"type":"keyword"},`, warning: "every item is its own group"},
		{name: "tags are text", replace: `"tags":{"type":"keyword"}`, by: `"tags":{"type":"text"}`, warning: "fields.tags"},
		{name: "no language", replace: `"lang":{"type":"keyword"},`, warning: "do not filter by language"},
		{name: "title is a keyword", replace: `"title":{"type":"text"}`, by: `"title":{"type":"keyword"}`, warning: "not indexed as text"},
		{name: "no summary", replace: `"summary":{"type":"text"},`, warning: "fields.summary"},
		{name: "no popularity", replace: `,
	"freshet_popularity":{"type":"long"}`},
		{name: "popularity is a keyword", replace: `"freshet_popularity":{"type":"long"}`, by: `"freshet_popularity":{"type":"keyword"}`, fatal: "a number is required"},
		{name: "no site", replace: `,"freshet_site":{"type":"keyword","index":false}`},
		{name: "site is text", replace: `"freshet_site":{"type":"keyword","index":false}`, by: `"freshet_site":{"type":"text"}`, warning: "a keyword with doc_values is required"},
		{name: "a site of theirs", replace: `"freshet_site":{"type":"keyword","index":false}`, by: `"domain":{"type":"keyword"}`, fields: esindex.Fields{Site: "domain"}},
		{name: "site is not wanted", replace: `,"freshet_site":{"type":"keyword","index":false}`, fields: esindex.Fields{Site: esindex.None}},
		{name: "no live popularity", replace: `,
	"freshet_sum_2h":{"type":"double"},"freshet_epoch_2h":{"type":"keyword"},"freshet_sum_2d":{"type":"double","index":false},"freshet_epoch_2d":{"type":"long"}`},
		{name: "a float holds no sum", replace: `"freshet_sum_2d":{"type":"double","index":false}`, by: `"freshet_sum_2d":{"type":"float"}`, warning: "a double with doc_values is required"},
		{name: "an epoch that cannot be found", replace: `"freshet_epoch_2h":{"type":"keyword"}`, by: `"freshet_epoch_2h":{"type":"keyword","index":false}`, warning: "a keyword or long, indexed"},
		{name: "an act that cannot be found", replace: `"freshet_last_act":{"type":"long"}`, by: `"freshet_last_act":{"type":"long","index":false}`, warning: "a long, indexed and with doc_values is required"},
		{name: "no latest act", replace: `"freshet_last_act":{"type":"long"},`},
		{name: "tags are nested", replace: `"tags":{"type":"keyword"}`, by: `"topics":{"type":"nested","properties":{"name":{"type":"keyword"}}}`, fields: esindex.Fields{Tags: "topics.name"}, warning: "muted tags match nothing"},
		{name: "tags are in an object", replace: `"tags":{"type":"keyword"}`, by: `"topics":{"properties":{"name":{"type":"keyword"}}}`, fields: esindex.Fields{Tags: "topics.name"}},
		{name: "an alias", replace: `"author_id":{"type":"keyword"}`, by: `"by":{"type":"keyword"},"author_id":{"type":"alias","path":"by"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			properties := fitting
			if c.replace != "" {
				require.Contains(t, fitting, c.replace)
				properties = strings.Replace(fitting, c.replace, c.by, 1)
			}
			r, err := esindex.Inspect(t.Context(), mapped(properties), "x", c.fields)
			require.NoError(t, err)
			if c.fatal == "" {
				require.NoError(t, r.Err())
			} else {
				require.ErrorIs(t, r.Err(), esindex.ErrUnusable)
				require.ErrorContains(t, r.Err(), c.fatal)
			}
			var warnings []string
			for _, p := range r.Problems {
				if !p.Fatal {
					warnings = append(warnings, p.String())
				}
			}
			if c.warning == "" {
				require.Empty(t, warnings)
			} else {
				require.Len(t, warnings, 1)
				require.Contains(t, warnings[0], c.warning)
			}
			if c.name == "an alias" {
				require.Equal(t, "author_id", r.Schema.Fields.AuthorID)
				require.Equal(t, "by", r.Schema.Source.AuthorID)
			}
		})
	}
}

// canned answers every request with the same body, like a node.
type canned string

func (c canned) Perform(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(c)))}, nil
}

func mapped(properties string) canned {
	return canned(`{"x":{"mappings":{"properties":{` + properties + `}}}}`)
}

func TestInspectSeveralIndices(t *testing.T) {
	two := func(a, b string) canned {
		return canned(`{"a":{"mappings":{"properties":{` + a + `}}},"b":{"mappings":{"properties":{` + b + `}}}}`)
	}
	r, err := esindex.Inspect(t.Context(), two(fitting, fitting), "both", esindex.Fields{})
	require.NoError(t, err)
	require.NoError(t, r.Err())
	require.Contains(t, r.Problems[0].String(), "2 indices")
	lacking := strings.Replace(fitting, `"lang":{"type":"keyword"},`, "", 1)
	joined, err := esindex.Inspect(t.Context(), two(fitting, lacking), "both", esindex.Fields{})
	require.NoError(t, err)
	require.NoError(t, joined.Err())
	require.ErrorContains(t, joined.Lost(r), "fields.lang", "of the second alone")
	require.NoError(t, joined.Lost(joined))

	counted := strings.Replace(fitting, `"freshet_sum_2h":{"type":"double"},`, "", 1)
	require.NotEqual(t, fitting, counted)
	for _, both := range []canned{two(fitting, counted), two(counted, fitting)} {
		r, err = esindex.Inspect(t.Context(), both, "both", esindex.Fields{})
		require.NoError(t, err)
		require.NoError(t, r.Err())
		require.False(t, r.Schema.Live, "one of them cannot keep live popularity")
		require.False(t, r.Schema.Acts)
	}

	// Fields for order and search, by which no reader refuses items, need not be in all indices.
	full := fitting + `,"freshet_tag":{"type":"keyword"},"freshet_story":{"type":"keyword"},
		"freshet_title":{"type":"text","analyzer":"whitespace"},"freshet_summary":{"type":"text","analyzer":"whitespace"}`
	r, err = esindex.Inspect(t.Context(), two(full, full), "both", esindex.Fields{})
	require.NoError(t, err)
	require.True(t, r.Schema.Tokens)
	traits := esindex.Traits{Author: "author_id", Site: "freshet_site", Tag: "freshet_tag", Story: "freshet_story"}
	require.Equal(t, traits, r.Schema.Traits)
	for field, want := range map[string]esindex.Traits{
		"freshet_site":       {Author: traits.Author, Tag: traits.Tag, Story: traits.Story},
		"freshet_story":      {Author: traits.Author, Site: traits.Site, Tag: traits.Tag},
		"freshet_tag":        {Author: traits.Author, Site: traits.Site, Story: traits.Story},
		"freshet_title":      traits,
		"freshet_popularity": traits,
		"freshet_sum_2d":     traits,
	} {
		less := regexp.MustCompile(`,\s*"`+field+`":\{[^}]*\}`).ReplaceAllString(full, "")
		require.NotEqual(t, full, less)
		for _, both := range []canned{two(full, less), two(less, full)} {
			r, err = esindex.Inspect(t.Context(), both, "both", esindex.Fields{})
			require.NoError(t, err)
			require.NoError(t, r.Err(), field)
			require.Equal(t, want, r.Schema.Traits, field)
			require.Equal(t, field != "freshet_title", r.Schema.Tokens, field)
			require.Equal(t, field == "freshet_title", r.Schema.Fields.TitleTokens == esindex.None, field)
		}
	}

	dated := func(kind string) string {
		return strings.Replace(fitting, `{"type":"date"}`, `{"type":"`+kind+`"}`, 1)
	}
	for _, kinds := range [][3]string{
		{"date", "long", "a and b map the fields differently"},
		{"long", "double", "a and b map the fields differently"}, // no search can sort by both
		{"long", "integer", ""},
	} {
		r, err = esindex.Inspect(t.Context(), two(dated(kinds[0]), dated(kinds[1])), "both", esindex.Fields{})
		require.NoError(t, err)
		if kinds[2] == "" {
			require.NoError(t, r.Err(), kinds)
		} else {
			require.ErrorContains(t, r.Err(), kinds[2], kinds)
		}
	}
}

func TestInspectErrors(t *testing.T) {
	client, index := connect(t)
	_, err := esindex.Inspect(t.Context(), client, index, esindex.Fields{})
	require.True(t, esindex.IsType(err, "index_not_found_exception"), "%v", err)
	nowhere, err := esindex.Connect(esindex.ClientConfig{Addresses: []string{"http://127.0.0.1:1"}})
	require.NoError(t, err)
	_, err = esindex.Inspect(t.Context(), nowhere, index, esindex.Fields{})
	require.ErrorIs(t, err, esindex.ErrUnavailable)
}

func TestErrorReason(t *testing.T) {
	client, index := connect(t)
	send(t, client, http.MethodPut, "/"+index, `{"mappings":{"properties":{"t":{"type":"date","format":"epoch_second"}}}}`)
	err := esindex.Do(t.Context(), client, http.MethodPut, "/"+index+"/_doc/1", "", []byte(`{"t":"nope"}`), nil)
	var e *esindex.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, 400, e.Status)
	require.Equal(t, map[bool]string{false: "document_parsing_exception", true: "mapper_parsing_exception"}[testenv.OpenSearch(t)], e.Type)
	require.Contains(t, e.Reason, "failed to parse date field [nope] with format [epoch_second]")
	require.NotErrorIs(t, err, esindex.ErrUnavailable)
}

// ofMillis answers that there is a document dated after the year 9999.
type ofMillis struct{ canned }

func (o ofMillis) Perform(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		ask, err := io.ReadAll(req.Body)
		if err == nil && strings.Contains(string(ask), `"gt"`) {
			return canned(`{"hits":{"total":{"value":1}}}`).Perform(req)
		}
	}
	return o.canned.Perform(req)
}

func timeField(t *testing.T, property, unit string) esindex.TimeField {
	t.Helper()
	client := esindex.Client(mapped(strings.Replace(fitting, `{"type":"date"}`, property, 1)))
	if unit != "" {
		client = ofMillis{client.(canned)}
	}
	r, err := esindex.Inspect(t.Context(), client, "x", esindex.Fields{})
	require.NoError(t, err)
	require.NoError(t, r.Err())
	return r.Schema.Time
}

// TestInspectTimeUnit checks that the documents determine the unit of a numeric field,
// also behind an alias.
func TestInspectTimeUnit(t *testing.T) {
	client, index := connect(t)
	send(t, client, http.MethodPut, "/"+index, `{"mappings":{"properties":{"id":{"type":"keyword"},"title":{"type":"text"},"update_time":{"type":"long"}}}}`)
	unit := func() string {
		report, err := esindex.Inspect(t.Context(), client, index, esindex.Fields{})
		require.NoError(t, err)
		require.NoError(t, report.Err())
		return report.Schema.Time.String()
	}
	assert.Equal(t, "a number, epoch_second", unit(), "nothing tells it")
	for i, step := range []struct{ doc, unit string }{
		{`{"update_time":1700000000000}`, "a number, epoch_millis"},
		{`{"update_time":1700000000}`, "a number, epoch_second"},
		{`{"update_time":1700000000001}`, "a number, epoch_millis"},
		{`{"update_time":0}`, "a number, epoch_second"},
		{`{"update_time":1700000000002}`, "a number, epoch_millis"},
		{`{"title":"without"}`, "a number, epoch_millis"},
	} {
		require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, fmt.Sprint("/", index, "/_doc/", i), "refresh=true", []byte(step.doc), nil))
		assert.Equal(t, step.unit, unit(), step.doc)
	}
}

// filled adds a document after each range search.
type filled struct {
	esindex.Client
	put func()
}

func (f filled) Perform(req *http.Request) (*http.Response, error) {
	var ask []byte
	if req.Body != nil {
		ask, _ = io.ReadAll(req.Body)
		req.Body = io.NopCloser(bytes.NewReader(ask))
	}
	res, err := f.Client.Perform(req)
	if bytes.Contains(ask, []byte(`"range"`)) {
		f.put()
	}
	return res, err
}

// TestInspectConcurrentFirstDocument checks that a document added during the inspection is
// not taken for one after the year 9999.
func TestInspectConcurrentFirstDocument(t *testing.T) {
	for _, property := range []string{`{"type":"date","format":"epoch_second"}`, `{"type":"date"}`, `{"type":"long"}`} {
		client, index := connect(t)
		send(t, client, http.MethodPut, "/"+index, `{"mappings":{"properties":{`+strings.Replace(fitting, `{"type":"date"}`, property, 1)+`}}}`)
		put := func() {
			require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+index+"/_doc/1", "refresh=true", []byte(`{"update_time":1700000000}`), nil))
		}
		report, err := esindex.Inspect(t.Context(), filled{client, put}, index, esindex.Fields{})
		require.NoError(t, err)
		require.NoError(t, report.Err(), property)
	}
}

// TestTimeFieldBounds searches for times that the field cannot hold or that are no date in its
// format: the search does not fail, and finds all documents on the one side and none on the
// other.
func TestTimeFieldBounds(t *testing.T) {
	const at = 1474848001 // 2016-09-26T00:00:01Z
	for _, property := range []string{
		`{"type":"date"}`, `{"type":"date","format":"epoch_second"}`, `{"type":"date","format":"epoch_millis"}`,
		`{"type":"date","format":"yyyy-MM-dd HH:mm:ss"}`, `{"type":"date","format":"uuuu-MM-dd HH:mm:ss"}`, `{"type":"date","format":"strict_date_time"}`,
		`{"type":"long"}`, `{"type":"integer"}`, `{"type":"double"}`,
	} {
		t.Run(property, func(t *testing.T) {
			client, index := connect(t)
			body := `{"mappings":{"properties":{"id":{"type":"keyword"},"title":{"type":"text"},"update_time":` + property + `}}}`
			send(t, client, http.MethodPut, "/"+index, body)
			report, err := esindex.Inspect(t.Context(), client, index, esindex.Fields{})
			require.NoError(t, err)
			require.NoError(t, report.Err())
			doc := fmt.Sprintf(`{"update_time":%s}`, report.Schema.Time.Stored(at))
			require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+index+"/_doc/1", "refresh=true", []byte(doc), nil))
			report, err = esindex.Inspect(t.Context(), client, index, esindex.Fields{}) // also with a document
			require.NoError(t, err)
			require.NoError(t, report.Err())
			for _, bound := range []int64{-1 << 60, -1 << 40, -62135596801, -1 << 31, -1, 0, at - 1, at, at + 1, 1 << 31, 253402300800, 1 << 60} {
				for by, want := range map[string]bool{"gt": at > bound, "lte": at <= bound} {
					ask := fmt.Sprintf(`{"query":{"range":{"update_time":{%q:%s}}}}`, by, report.Schema.Time.Literal(bound))
					var got struct{ Count int }
					err := esindex.Do(t.Context(), client, http.MethodPost, "/"+index+"/_count", "", []byte(ask), func(b []byte) error { return json.Unmarshal(b, &got) })
					require.NoError(t, err, "%s %d", by, bound)
					require.Equal(t, want, got.Count == 1, "%s %d", by, bound)
				}
			}
		})
	}
}

func TestTimeField(t *testing.T) {
	const at = 1474848001 // 2016-09-26T00:00:01Z
	for _, c := range []struct {
		property, unit        string
		literal, stored, span string
		sortValue             string
		sources               []string // all of the same second
	}{
		{
			`{"type":"date","format":"epoch_second"}`, "", `"1474848001"`, `1474848001`, `"90000ms"`, "1474848001999",
			[]string{`1474848001`, `"1474848001"`, `1474848001.5`},
		},
		{
			`{"type":"date","format":"epoch_millis"}`, "", `"1474848001000"`, `1474848001000`, `"90000ms"`, "1474848001000",
			[]string{`1474848001999`, `"1474848001000"`},
		},
		{
			`{"type":"date"}`, "", `"2016-09-26T00:00:01.000Z"`, `"2016-09-26T00:00:01.000Z"`, `"90000ms"`, "1474848001000",
			[]string{`"2016-09-26T00:00:01Z"`, `"2016-09-26T02:00:01.250+02:00"`, `"2016-09-26T00:00:01"`, `1474848001000`},
		},
		{
			`{"type":"date","format":"yyyy/MM/dd HH:mm:ss||yyyy-MM-dd"}`, "", `"2016/09/26 00:00:01"`, `"2016/09/26 00:00:01"`, `"90000ms"`, "1474848001000",
			[]string{`"2016/09/26 00:00:01"`},
		},
		{
			`{"type":"date","format":"yyyy-MM-dd||uuuu-MM-dd'T'HH:mm:ss.SSSX"}`, "", `"2016-09-26T00:00:01.000Z"`, `"2016-09-26T00:00:01.000Z"`, `"90000ms"`, "1474848001000",
			[]string{`"2016-09-26T00:00:01.000Z"`},
		},
		{`{"type":"long"}`, "", `1474848001`, `1474848001`, `90`, "1474848001", []string{`1474848001`}},
		{`{"type":"double"}`, "ms", `1474848001000`, `1474848001000`, `90000`, "1.474848001E12", []string{`1474848001000`, `1.474848001e12`}},
	} {
		t.Run(c.property, func(t *testing.T) {
			f := timeField(t, c.property, c.unit)
			assert.Equal(t, c.literal, string(f.Literal(at)))
			assert.Equal(t, c.stored, string(f.Stored(at)))
			assert.Equal(t, c.span, string(f.Span(90*time.Second)))
			got, err := f.FromSort([]byte(c.sortValue))
			require.NoError(t, err)
			assert.EqualValues(t, at, got)
			for _, source := range c.sources {
				got, err := f.FromSource(json.RawMessage(source))
				require.NoError(t, err)
				assert.EqualValues(t, at, got, source)
			}
			_, err = f.FromSort([]byte("null"))
			require.Error(t, err)
			_, err = f.FromSource(json.RawMessage(`"soon"`))
			require.Error(t, err)
		})
	}
}
