package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	writers     = 4 // clients that write and check the results
	onlyReaders = 6 // clients that follow everybody and scroll
	coldReaders = 30
	// soon is the maximum time for a post to reach its readers' lists in the absence of faults.
	soon = 2 * time.Second
	// eventually is longer than the lease of a job whose worker died.
	eventually = 90 * time.Second
)

func author(i int) string { return fmt.Sprint("author", i) }
func maker(i int) string  { return fmt.Sprint("maker", i) }
func reader(i int) string { return fmt.Sprint("reader", i) }
func cold(i int) string   { return fmt.Sprint("cold", i) }
func fan(i int) string    { return fmt.Sprint("fan", i) }

// known is an accepted post.
type known struct {
	author            string
	at                int64
	accepted          time.Time
	deleting, deleted time.Time // times of the request and of the answer
}

// seen counts the pages that readers received.
type seen struct {
	pages, failed, degraded, lacking int
	last                             time.Time // time of the last page that failed, was degraded or lacked a post
}

// model holds the accepted writes, as clients know them.
type model struct {
	posts   map[string]*known
	follows map[[2]string]bool // answered; a missing pair is unknown
	saw     seen
	equal   time.Time // when a timeline was last wrong after writing ended; zero: never
	stop    chan struct{}
	wait    sync.WaitGroup
}

func newModel() model {
	return model{posts: map[string]*known{}, follows: map[[2]string]bool{}, stop: make(chan struct{})}
}

// entries is a page of a timeline.
type entries struct {
	Items []struct {
		ID        string `json:"id"`
		CreatedAt int64  `json:"created_at"`
		Author    struct {
			ID string `json:"id"`
		} `json:"author"`
	} `json:"items"`
	Next     string   `json:"next_cursor"`
	More     bool     `json:"has_more"`
	Degraded []string `json:"degraded"`
}

var caller = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

// call sends one request to a server.
func (w *stage) call(ctx context.Context, server int, method, path, agent, body string, data any) error {
	req, err := http.NewRequestWithContext(ctx, method, w.process(server).url+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("X-Agent-ID", agent)
	if key, rest, ok := strings.Cut(body, "\x00"); ok { // for a call that may be repeated
		req.Header.Set("Idempotency-Key", key)
		req.Body, req.ContentLength = io.NopCloser(strings.NewReader(rest)), int64(len(rest))
	}
	req.Header.Set("Authorization", "Bearer "+adminToken)
	res, err := caller.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	all, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %d %s", method, path, res.StatusCode, all)
	}
	var envelope struct{ Data json.RawMessage }
	if err := json.Unmarshal(all, &envelope); err != nil || data == nil {
		return err
	}
	return json.Unmarshal(envelope.Data, data)
}

// people creates the follows and first posts, and builds the lists of all followers and readers
// except the cold ones.
func (w *stage) people() {
	for i := range writers {
		w.publish(0, author(i))
		for r := range onlyReaders {
			w.follow(0, reader(r), author(i), true)
		}
		for c := range coldReaders {
			w.follow(0, cold(c), author(i), true)
		}
	}
	var group sync.WaitGroup
	next := make(chan string)
	for i := range 8 {
		group.Go(func() {
			for agent := range next {
				w.follow(i%2, agent, "big", true)
				assert.NoError(w, w.call(w.Context(), i%2, http.MethodPost, "/v1/timeline/warm", agent, "", nil))
			}
		})
	}
	for i := range *faultsFollowers {
		next <- fan(i)
	}
	for i := range onlyReaders {
		next <- reader(i)
	}
	close(next)
	group.Wait()
}

// publish retries a post until it is accepted.
func (w *stage) publish(server int, by string) {
	key := fmt.Sprint(rand.Uint64())
	var p struct {
		ID        string `json:"id"`
		CreatedAt int64  `json:"created_at"`
	}
	for w.call(w.Context(), server, http.MethodPost, "/v1/posts", by, key+"\x00"+`{"caption":"Hello"}`, &p) != nil {
		server = 1 - server
		time.Sleep(20 * time.Millisecond)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.posts[p.ID] = &known{author: by, at: p.CreatedAt, accepted: time.Now()}
}

// follow starts or ends a follow, and reports whether the server answered.
func (w *stage) follow(server int, agent, other string, begin bool) bool {
	method, pair := http.MethodPut, [2]string{agent, other}
	if !begin {
		method = http.MethodDelete
	}
	w.mu.Lock()
	delete(w.follows, pair)
	w.mu.Unlock()
	if w.call(w.Context(), server, method, "/v1/agents/"+agent+"/following/"+other, agent, "", nil) != nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.follows[pair] = begin
	return true
}

// begin starts the clients.
func (w *stage) begin() {
	for i := range writers {
		w.client(func(n int) { w.write(i, n) }, 20*time.Millisecond)
	}
	for i := range onlyReaders {
		w.client(func(n int) { w.scroll(i, n) }, 20*time.Millisecond)
	}
}

func (w *stage) client(do func(n int), pause time.Duration) {
	w.wait.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-w.stop:
				return
			case <-time.After(pause):
				do(n)
			}
		}
	})
}

// end stops the clients.
func (w *stage) end() { close(w.stop); w.wait.Wait() }

// write performs one step of a writing client. Posts that the client deleted must not be in its
// next page.
func (w *stage) write(i, n int) {
	server, other := (i+n)%2, author(rand.IntN(writers))
	switch n % 5 {
	case 0, 1, 2:
		w.publish(server, author(i))
	case 3:
		begin := rand.IntN(2) == 0
		if w.follow(server, maker(i), other, begin) && !begin {
			w.hides(1-server, maker(i), other)
		}
	case 4:
		if rand.IntN(2) == 0 {
			w.remove(server, author(i))
		} else {
			w.block(server, maker(i), other)
		}
	}
}

func (w *stage) hides(server int, agent, other string) {
	var page entries
	if w.call(w.Context(), server, http.MethodGet, "/v1/timeline", agent, "", &page) != nil {
		return
	}
	for _, e := range page.Items {
		assert.NotEqual(w, other, e.Author.ID, "%s is shown a post of whom they do not follow or have blocked", agent)
	}
}

func (w *stage) block(server int, agent, other string) {
	path := "/v1/agents/" + agent + "/blocked/" + other
	w.mu.Lock()
	delete(w.follows, [2]string{agent, other}) // a block ends a follow
	w.mu.Unlock()
	if w.call(w.Context(), server, http.MethodPut, path, agent, "", nil) == nil {
		w.hides(1-server, agent, other)
	}
	for w.call(w.Context(), server, http.MethodDelete, path, agent, "", nil) != nil {
		server = 1 - server
		time.Sleep(20 * time.Millisecond)
	}
}

// remove deletes one of an author's posts.
func (w *stage) remove(server int, by string) {
	w.mu.Lock()
	var id string
	for at, p := range w.posts {
		if p.author == by && p.deleting.IsZero() {
			id = at
			p.deleting = time.Now()
			break
		}
	}
	w.mu.Unlock()
	if id != "" && w.call(w.Context(), server, http.MethodDelete, "/v1/posts/"+id, by, "", nil) == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.posts[id].deleted = time.Now()
	}
}

// scroll performs one step of a reading client.
func (w *stage) scroll(i, n int) {
	began := time.Now()
	var page entries
	err := w.call(w.Context(), (i+n)%2, http.MethodGet, "/v1/timeline", reader(i), "", &page)
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &w.saw
	s.pages++
	if err != nil {
		s.failed++
		s.last = time.Now()
		return
	}
	lacks := w.lacks(page, began)
	if lacks {
		s.lacking++
	}
	if len(page.Degraded) > 0 {
		s.degraded++
	}
	if lacks || len(page.Degraded) > 0 {
		s.last = time.Now()
	}
}

// lacks compares a first page with the posts accepted before it was requested.
func (w *stage) lacks(page entries, began time.Time) bool {
	has, oldest := map[string]bool{}, int64(0)
	for _, e := range page.Items {
		assert.False(w, has[e.ID], "twice in a page")
		has[e.ID], oldest = true, e.CreatedAt
		if p := w.posts[e.ID]; p != nil && !p.deleted.IsZero() {
			assert.False(w, p.deleted.Before(began), "a deleted post is shown")
		}
	}
	for id, p := range w.posts {
		if p.at > oldest && p.deleting.IsZero() && p.accepted.Before(began.Add(-soon)) && !has[id] {
			return true
		}
	}
	return false
}

// compare waits until every timeline, read by HTTP from either server, matches the database, and
// compares the database with the accepted writes.
func (w *stage) compare() {
	agents := []string{}
	for i := range writers {
		agents = append(agents, maker(i), author(i))
	}
	for i := range onlyReaders {
		agents = append(agents, reader(i))
	}
	for i := range coldReaders {
		agents = append(agents, cold(i))
	}
	for i := range *faultsFollowers {
		agents = append(agents, fan(i))
	}
	db, err := pgx.Connect(w.Context(), w.postgres.URL)
	require.NoError(w, err)
	defer func() { _ = db.Close(context.WithoutCancel(w.Context())) }()
	for end := time.Now().Add(eventually); ; {
		wrong := w.wrong(db, agents)
		if wrong == "" {
			break
		}
		w.equal = time.Now()
		if time.Now().After(end) {
			w.Errorf("after %s: %s", eventually, wrong)
			break
		}
	}
	w.accepted(db)
}

// wrong describes a timeline that differs from the database, if there is one.
func (w *stage) wrong(db *pgx.Conn, agents []string) string {
	for _, agent := range agents {
		rows, _ := db.Query(w.Context(), `SELECT p.id FROM posts p WHERE p.gone = 0 AND (p.author = $1 OR p.author IN
			(SELECT author FROM follows WHERE agent = $1 AND gone = 0)) ORDER BY p.created_at DESC, p.id DESC`, agent)
		want, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(w, err)
		for server := range 2 {
			got, degraded := w.whole(server, agent)
			if degraded != "" || !slices.Equal(want, got) {
				return fmt.Sprintf("the timeline of %s on server %d has %d of %d posts %s", agent, server, len(got), len(want), degraded)
			}
		}
	}
	return ""
}

// whole scrolls to the end.
func (w *stage) whole(server int, agent string) (ids []string, degraded string) {
	path := "/v1/timeline?limit=100"
	for {
		var page entries
		if err := w.call(w.Context(), server, http.MethodGet, path, agent, "", &page); err != nil {
			return ids, err.Error()
		}
		if len(page.Degraded) > 0 {
			return ids, fmt.Sprint(page.Degraded)
		}
		for _, e := range page.Items {
			ids = append(ids, e.ID)
		}
		if !page.More {
			return ids, ""
		}
		path = "/v1/timeline?limit=100&cursor=" + page.Next
	}
}

// accepted checks the database for every accepted write.
func (w *stage) accepted(db *pgx.Conn) {
	for id, p := range w.posts {
		if p.deleting.IsZero() || !p.deleted.IsZero() {
			var there bool
			require.NoError(w, db.QueryRow(w.Context(), `SELECT EXISTS (SELECT FROM posts WHERE id = $1 AND gone = 0)`, id).Scan(&there))
			assert.Equal(w, p.deleting.IsZero(), there, "the post %s", id)
		}
	}
	for pair, want := range w.follows {
		var there bool
		require.NoError(w, db.QueryRow(w.Context(), `SELECT EXISTS (SELECT FROM follows WHERE agent = $1 AND author = $2 AND gone = 0)`,
			pair[0], pair[1]).Scan(&there))
		assert.Equal(w, want, there, "the follow %s", pair)
	}
}
