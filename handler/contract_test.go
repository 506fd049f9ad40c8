package handler_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/handler"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server"
)

// The contract: a real embedded system answers every route as its OpenAPI description states, with
// every status and code that the description lists and no other.

const contractToken = "an-admin-token-for-the-contract"

type exchange struct {
	before  []exchange // calls that must succeed first
	op      string     // of the calls in before: the route; the others have the route of the table
	path    map[string]string
	query   string
	headers []string
	kind    string // Content-Type; "" means application/json if there is a body
	body    string
	late    bool // its deadline has passed
}

func (e exchange) with(headers ...string) exchange {
	e.headers = headers
	return e
}

// contract is one running system and its description.
type contract struct {
	spec   *openapi3.T
	server http.Handler
	social server.SocialStore
}

func openContract(t *testing.T, change func(*configs.Config)) *contract {
	t.Helper()
	return openLogged(t, slog.New(slog.DiscardHandler), change)
}

func openLogged(t *testing.T, log *slog.Logger, change func(*configs.Config)) *contract {
	t.Helper()
	cfg := configs.Default()
	cfg.DataDir = t.TempDir()
	cfg.Auth.AdminToken = contractToken
	change(&cfg)
	require.NoError(t, cfg.Validate())
	a, err := server.Open(t.Context(), cfg, server.WithRecallCache(0, 0), server.WithLogger(log))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, a.Close(context.Background())) })
	c := &contract{server: a.Handler, social: a.Social}
	w := httptest.NewRecorder()
	c.server.ServeHTTP(w, httptest.NewRequest("GET", "/openapi.json", nil))
	c.spec, err = openapi3.NewLoader().LoadFromData(w.Body.Bytes())
	require.NoError(t, err)
	return c
}

func (c *contract) operations() map[string]*routers.Route {
	all := map[string]*routers.Route{}
	for path, item := range c.spec.Paths.Map() {
		for method, op := range item.Operations() {
			all[method+" "+path] = &routers.Route{
				Spec: c.spec, Path: path, PathItem: item, Method: method, Operation: op,
			}
		}
	}
	return all
}

// request returns the HTTP request of a call. Each has a body of its own.
func (e exchange) request(t *testing.T, op string) *http.Request {
	t.Helper()
	method, path, _ := strings.Cut(op, " ")
	for name, value := range e.path {
		path = strings.ReplaceAll(path, "{"+name+"}", value)
	}
	require.NotContains(t, path, "{", "%s: the case does not fill in the path", op)
	r := httptest.NewRequest(method, path+e.query, nil)
	if e.body != "" {
		r = httptest.NewRequest(method, path+e.query, strings.NewReader(e.body))
		r.Header.Set("Content-Type", "application/json")
	}
	if e.kind != "" {
		r.Header.Set("Content-Type", e.kind)
	}
	for _, h := range e.headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	return r
}

type answered struct {
	status int
	code   int // of the envelope; 0 if there is none
	header http.Header
	body   []byte
}

// taken records an answer. A stream may hijack its connection: then the client reads the beginning
// of the stream and disconnects.
type taken struct {
	*httptest.ResponseRecorder
	begun chan []byte // nil if the connection was not hijacked
}

func (a *taken) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	client, server := net.Pipe()
	a.begun = make(chan []byte, 1)
	go func() {
		defer func() { _ = client.Close() }()
		b := make([]byte, 4096)
		n, _ := client.Read(b)
		a.begun <- b[:n]
	}()
	return server, nil, nil
}

// wait adds the data sent over a hijacked connection to the answer.
func (a *taken) wait(t *testing.T, r *http.Request) {
	t.Helper()
	if a.begun == nil {
		return
	}
	res, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(<-a.begun)), r)
	require.NoError(t, err)
	maps.Copy(a.Header(), res.Header)
	a.WriteHeader(res.StatusCode)
	_, err = io.Copy(a, res.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "the client has left before the end")
}

// call makes a call and validates the answer against the description.
func (c *contract) call(t *testing.T, op string, e exchange, changes ...func(*http.Request) *http.Request) answered {
	t.Helper()
	for _, b := range e.before {
		got := c.call(t, b.op, b)
		require.Less(t, got.status, 400, "before %s: %s: %s", op, b.op, got.body)
	}
	route := c.operations()[op]
	require.NotNil(t, route, "%s is not described", op)
	r := e.request(t, op)
	if e.late {
		r = late(r)
	}
	for _, change := range changes {
		r = change(r)
	}
	w := &taken{ResponseRecorder: httptest.NewRecorder()}
	c.server.ServeHTTP(w, r)
	w.wait(t, r)
	got := answered{status: w.Code, header: w.Header(), body: w.Body.Bytes()}
	if strings.HasPrefix(got.header.Get("Content-Type"), "application/json") && got.status != http.StatusOK {
		var envelope struct {
			Code int `json:"code"`
		}
		require.NoError(t, json.Unmarshal(got.body, &envelope))
		got.code = envelope.Code
	}
	in := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: e.path, Route: route},
		Status:                 got.status,
		Header:                 got.header,
		Options:                &openapi3filter.Options{IncludeResponseStatus: true},
	}
	in.SetBodyBytes(got.body)
	require.NoError(t, openapi3filter.ValidateResponse(t.Context(), in), "%s answered %d: %.400s", op, got.status, got.body)
	if got.code != 0 {
		require.Contains(t, codesOf(route.Operation)[got.status], got.code,
			"%s answered %d, which its description does not list: %s", op, got.code, got.body)
	}
	return got
}

func (c *contract) valid(t *testing.T, op string, e exchange) {
	t.Helper()
	in := &openapi3filter.RequestValidationInput{
		Request: e.request(t, op), PathParams: e.path, Route: c.operations()[op],
		Options: &openapi3filter.Options{AuthenticationFunc: presents, RejectWhenRequestBodyNotSpecified: true},
	}
	require.NoError(t, openapi3filter.ValidateRequest(t.Context(), in), op)
}

// presents reports whether a request has the credentials of a security scheme.
func presents(_ context.Context, in *openapi3filter.AuthenticationInput) error {
	h := in.RequestValidationInput.Request.Header
	scheme := in.SecurityScheme
	if scheme.Type == "apiKey" && h.Get(scheme.Name) != "" ||
		scheme.Type == "http" && strings.HasPrefix(h.Get("Authorization"), "Bearer ") {
		return nil
	}
	return errors.New("the request lacks " + in.SecuritySchemeName)
}

// codesOf returns the codes that a route lists, by status. They are the names of the examples of
// its error responses.
func codesOf(op *openapi3.Operation) map[int][]int {
	codes := map[int][]int{}
	for name, response := range op.Responses.Map() {
		status, _ := strconv.Atoi(name)
		codes[status] = nil
		if status < 400 {
			continue
		}
		for code := range response.Value.Content["application/json"].Examples {
			n, _ := strconv.Atoi(code)
			codes[status] = append(codes[status], n)
		}
	}
	return codes
}

// lines decodes NDJSON, which the validator does not support, and checks that every line is JSON.
func lines(body io.Reader, _ http.Header, _ *openapi3.SchemaRef, _ openapi3filter.EncodingFn) (any, error) {
	data, err := io.ReadAll(body)
	for line := range bytes.Lines(data) {
		if !json.Valid(line) {
			return nil, fmt.Errorf("%q is not JSON", line)
		}
	}
	return string(data), err
}

// late returns a request past its deadline, as if a dependency had not answered in time.
func late(r *http.Request) *http.Request {
	ctx, cancel := context.WithDeadline(r.Context(), time.Now().Add(-time.Second))
	context.AfterFunc(r.Context(), cancel)
	return r.WithContext(ctx)
}

// faulty makes a route panic when it reads its deadline.
type faulty struct{ context.Context }

func (faulty) Deadline() (time.Time, bool) { panic("a fault of the route") }

func broken(r *http.Request) *http.Request { return r.WithContext(faulty{r.Context()}) }

// heavy sets a Content-Length above the limit of every route.
func heavy(r *http.Request) *http.Request {
	r.ContentLength = 65 << 20
	return r
}

// form sends the body with the type of a form with files.
func form(r *http.Request) *http.Request {
	if r.URL.Path != "/v1/posts" {
		r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	}
	return r
}

// elsewhere turns a request into one made by a page of another site in a browser.
func elsewhere(r *http.Request) *http.Request {
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	return r
}

// conditioned makes a change conditional on a different version than the current one.
func conditioned(r *http.Request) *http.Request {
	if r.Method != http.MethodGet {
		r.Header.Set("If-Match", `"another"`)
	}
	return r
}

// asking adds a query parameter that no route has.
func asking(r *http.Request) *http.Request {
	if strings.HasPrefix(r.URL.Path, "/v1/") {
		query := r.URL.Query()
		query.Set(unknownParameter, "7")
		r.URL.RawQuery = query.Encode()
	}
	return r
}

const unknownParameter = "no_such_parameter"

// anyway has the refusals that every route can be made to give in the same way. A route that
// answers differently must describe that.
var anyway = []struct {
	code    int
	headers []string // nil means those of the valid call
	body    string   // "" means that of the valid call
	change  func(*http.Request) *http.Request
}{
	{code: 40001, body: `{"no_such_field":1}`},
	{code: 40001, body: "not JSON"},
	{code: 40001, change: conditioned},
	{code: 40101, headers: []string{"X-Other: 1"}},
	{code: 40301, headers: []string{"X-Agent-ID: somebody_else"}},
	{code: 40301, change: elsewhere},
	{code: 41301, change: heavy},
	{code: 41501, change: form},
	{code: 50001, change: broken},
	{code: 50301, change: late},
}

func TestContract(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for kind, decode := range map[string]openapi3filter.BodyDecoder{
		"application/x-ndjson": lines,
		"text/html":            openapi3filter.PlainBodyDecoder,
		"text/event-stream":    openapi3filter.PlainBodyDecoder,
		"image/png":            openapi3filter.FileBodyDecoder,
		"image/jpeg":           openapi3filter.FileBodyDecoder,
		"application/zip":      openapi3filter.FileBodyDecoder,
	} {
		openapi3filter.RegisterBodyDecoder(kind, decode)
		t.Cleanup(func() { openapi3filter.UnregisterBodyDecoder(kind) })
	}
	dir := t.TempDir()
	c := openContract(t, func(cfg *configs.Config) { cfg.DataDir = dir })
	seedSocial(t, c.social)
	seedImage(t, c.social, dir)
	seedExports(t, c.social, dir)
	tokens := openContract(t, byTokens)
	hasty := openContract(t, func(cfg *configs.Config) { cfg.Server.RateLimit = 0.001 })
	unready := &contract{server: handler.NewUnready(t, contractToken), spec: c.spec}
	cases := contractCases()
	for _, op := range slices.Sorted(maps.Keys(c.operations())) {
		t.Run(op, func(t *testing.T) {
			route, ok := cases[op]
			require.True(t, ok, "described, but there is no case")
			seen := map[int]map[int]bool{} // by status and code
			note := func(got answered) {
				if seen[got.status] == nil {
					seen[got.status] = map[int]bool{}
				}
				seen[got.status][got.code] = true
			}
			for _, good := range route.good {
				got := c.call(t, op, good)
				require.Less(t, got.status, 400, "%s", got.body)
				c.valid(t, op, good)
				note(got)
			}
			for _, way := range anyway {
				e := route.good[0]
				if way.headers != nil {
					e.headers = way.headers
				}
				if way.body != "" {
					e.body = way.body
				}
				e.before = nil
				if way.change == nil {
					note(c.call(t, op, e))
				} else {
					note(c.call(t, op, e, way.change))
				}
			}
			once := route.good[0]
			once.before = nil
			note(hasty.call(t, op, once))
			note(hasty.call(t, op, once))
			note(tokens.call(t, op, once.with("Authorization: Bearer x.y.z")))
			if op == "GET /readyz" || op == "GET /v1/ranking" || strings.HasPrefix(op, "GET /v1/feeds") || strings.Contains(op, " /v1/config/") {
				note(unready.call(t, op, once))
			}
			if strings.HasPrefix(once.request(t, op).URL.Path, "/v1/") {
				got := c.call(t, op, once, asking)
				require.Equal(t, 40001, got.code, "%s", got.body)
				require.Contains(t, string(got.body), unknownParameter)
				note(got)
			}
			for code, bad := range route.bad {
				got := c.call(t, op, bad)
				require.Equal(t, code, got.code, "%s", got.body)
				note(got)
			}
			for status, codes := range codesOf(route.described(c, op)) {
				require.NotNil(t, seen[status], "%d is described and no case provokes it", status)
				for _, code := range codes {
					require.True(t, seen[status][code], "%d is described and no case provokes it", code)
				}
			}
		})
	}
	for op := range cases {
		require.NotNil(t, c.operations()[op], "there is a case for %s, which is not described", op)
	}
}

// The guest feed has items if the server starts with items that have likes.
func TestContractGuestFeed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := configs.Default()
	cfg.DataDir = dir
	a, err := server.Open(t.Context(), cfg)
	require.NoError(t, err)
	now := time.Now().Unix()
	_, err = a.Catalog.Put(t.Context(), []feed.Item{
		{ID: "hot", Title: "Hot", UpdateTime: now, Likes: 99, Business: map[string]json.RawMessage{"x": json.RawMessage(`{"y":1.50}`)}},
		{ID: "cool", Title: "Cool", UpdateTime: now, Likes: 1},
	})
	require.NoError(t, err)
	require.NoError(t, a.Close(t.Context()))
	c := openContract(t, func(cfg *configs.Config) { cfg.DataDir = dir })
	const op = "GET /v1/feed/guest"
	got := c.call(t, op, exchange{})
	require.Contains(t, string(got.body), `"x":{"y":1.50},"in_feed":{"source":"trending","trend":"hot"}}`)
	require.Contains(t, string(got.body), `"in_feed":{"source":"trending"}}`)
	tag := got.header.Get("ETag")
	for _, known := range []string{tag, "W/" + tag, `"x", ` + tag, strings.TrimSuffix(tag, `"`) + `-gzip"`, strings.TrimSuffix(tag, `"`) + `-zstd"`} {
		again := c.call(t, op, exchange{headers: []string{"If-None-Match: " + known, "X-Agent-ID: not : an agent"}})
		require.Equal(t, http.StatusNotModified, again.status, known)
		require.Empty(t, again.body)
	}
	require.Equal(t, http.StatusOK, c.call(t, op, exchange{headers: []string{`If-None-Match: "x"`}}).status)
	require.NotEqual(t, tag, c.call(t, op, exchange{query: "?limit=1"}).header.Get("ETag"))
	late := c.call(t, op, exchange{late: true})
	require.Equal(t, "no-store", late.header.Get("Cache-Control"), "an error is nobody's to keep")
}

// The routes and the description have the same operations. HEAD counts as described by GET.
func TestOpenAPIDescribesEveryRoute(t *testing.T) {
	t.Parallel()
	c := openContract(t, func(*configs.Config) {})
	engine, ok := c.server.(interface{ Routes() gin.RoutesInfo })
	require.True(t, ok, "%T lists no routes", c.server)
	described := c.operations()
	routed := map[string]bool{}
	for _, r := range engine.Routes() {
		parts := strings.Split(r.Path, "/")
		for i, part := range parts {
			if part != "" && (part[0] == ':' || part[0] == '*') {
				parts[i] = "{" + part[1:] + "}"
			}
		}
		path := strings.Join(parts, "/")
		if strings.HasPrefix(path, "/debug/pprof/") { // of net/http/pprof, for go tool pprof
			continue
		}
		routed[r.Method+" "+path] = true
		if r.Method == http.MethodHead {
			assert.NotNil(t, described["GET "+path], "HEAD %s: there is no GET that is described", path)
			continue
		}
		assert.NotNil(t, described[r.Method+" "+path], "%s %s is not described", r.Method, path)
	}
	for op, route := range described {
		assert.True(t, routed[op], "%s is described and does not exist", op)
		assert.Equal(t, described["GET "+route.Path] != nil, routed["HEAD "+route.Path], "HEAD %s", route.Path)
	}
}

// A refusal has the envelope on every path, also where there is no route.
func TestUnknownRouteEnvelope(t *testing.T) {
	t.Parallel()
	c := openContract(t, func(*configs.Config) {})
	schema := c.spec.Components.Schemas["Error"].Value
	for call, want := range map[string]int{
		"GET /v2/feed": 40401, "GET /v1/feed": 40501, "DELETE /v1/items": 40501, "POST /livez": 40501, "GET /v1": 40401,
	} {
		method, path, _ := strings.Cut(call, " ")
		w := httptest.NewRecorder()
		c.server.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		var body map[string]any
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body), call)
		require.NoError(t, schema.VisitJSON(body, openapi3.EnableJSONSchema2020()), call)
		require.EqualValues(t, want, body["code"], call)
		require.Equal(t, want/100, w.Code, call)
	}
}

func byTokens(cfg *configs.Config) {
	cfg.Auth.Mode, cfg.Auth.JWT.Secret = configs.ModeJWT, strings.Repeat("secret", 8)
}

// A server that requires tokens refuses with the same response shapes, and names the scheme.
func TestContractTokens(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	c := openContract(t, byTokens)
	for op, route := range contractCases() {
		if codesOf(route.described(c, op))[401] == nil {
			continue
		}
		got := c.call(t, op, exchange{path: route.good[0].path, body: route.good[0].body, headers: []string{"Authorization: Bearer x.y.z"}})
		require.Equal(t, 40101, got.code, op)
		require.Equal(t, "Bearer", got.header.Get("WWW-Authenticate"), op)
	}
}
