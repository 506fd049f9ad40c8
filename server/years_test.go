package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// yearPlan is the size of a compressed time.
type yearPlan struct {
	days, every      int // length, and days between two measurements
	from             int // the first day on which nothing may grow any more
	members, readers int // agents who follow and post, and those who only read
	calls            int // refreshes a day; all else is in proportion
}

// TestYear lets more than 14 months pass, with all kinds of acts: once the longest period, a year, has passed, no table
// and no file grows but for what retention.Kinds says.
func TestYear(t *testing.T) {
	testenv.WithoutRace(t)
	testenv.Full(t, "years")
	t.Parallel()
	cfg := embedded(t)
	if dir, err := os.MkdirTemp("/dev/shm", "freshet-year-"); err == nil { // no disk, whose syncs would take most of the time
		t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
		cfg.DataDir = dir
	}
	cfg.Catalog.Retention = 30 * 24 * time.Hour
	w := newYearWorld(t, cfg, yearPlan{days: 435, every: 15, from: 375, members: 2000, readers: 8000, calls: 90})
	w.run()
}

// TestYearServices lets 75 days pass with services, whose periods are shortened as far as they are settings.
func TestYearServices(t *testing.T) {
	testenv.WithoutRace(t)
	testenv.Full(t, "years")
	t.Parallel()
	cfg := withPostgres(t)
	const days = 24 * time.Hour
	cfg.Catalog.Retention, cfg.Learning.Retention, cfg.Reports.Retention, cfg.Notifications.Retention = 20*days, 20*days, 20*days, 20*days
	cfg.Dedup.DailyCapacity = 5000
	w := newYearWorld(t, cfg, yearPlan{days: 80, every: 5, from: 55, members: 100, readers: 300, calls: 16})
	w.run()
}

// TestStoredListed lets a day pass: the list has each file, key of Redis and index that there is then, and says
// which keys have no TTL.
func TestStoredListed(t *testing.T) {
	t.Parallel()
	for _, m := range networks {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			w := newYearWorld(t, m.config(t), yearPlan{days: 1, every: 1, members: 10, readers: 10, calls: 40})
			w.run()
			require.NotEmpty(t, w.sizes[0].of)
		})
	}
}

// yearWorld is a system and those who use it.
type yearWorld struct {
	*testing.T
	a     *App
	plan  yearPlan
	now   *clock
	rnd   *rand.Rand
	named int // agents, items and groups so far

	members, readers []string
	posts            []yearPost
	groups           []yearPost
	done             map[string]int // acts by kind
	sizes            []yearSizes
}

// yearPost is a post or a group, whose maker ends it after a while.
type yearPost struct {
	id, by string
	until  time.Time
}

func (w *yearWorld) name(kind string) string {
	w.named++
	return fmt.Sprintf("%s_%d", kind, w.named)
}

func (w *yearWorld) any(agents []string) string { return agents[w.rnd.IntN(len(agents))] }

// must fails the test on an error that the calls of the random world do not explain.
func (w *yearWorld) must(what string, err error) {
	w.Helper()
	if err != nil && !feed.Refused(err) {
		require.NoError(w, err, what)
	}
	if err == nil {
		w.done[what]++
	}
}

// run lets the days pass, six hours at a time.
func (w *yearWorld) run() {
	for day := range w.plan.days {
		for range 4 {
			w.now.Advance(6 * time.Hour)
			w.publish()
			w.read()
			w.socialize()
		}
		w.moderate()
		w.comeAndGo()
		w.operate(day)
		w.purge()
		if (day+1)%w.plan.every == 0 {
			w.measure(day + 1)
		}
	}
	w.check()
}

// publish uploads items, and members publish posts and end older ones.
func (w *yearWorld) publish() {
	ctx, now := w.Context(), w.now.Now()
	var items []feed.Item
	for range max(2, w.plan.calls/40) {
		id := w.name("item")
		items = append(items, feed.Item{
			ID: id, GroupID: "group-of-" + id, Title: "About " + subject(w.rnd.IntN(30)), Tags: []string{subject(w.rnd.IntN(30))},
			AuthorID: fmt.Sprint("site-", w.rnd.IntN(50)), Lang: "en", UpdateTime: now.Add(-time.Minute).Unix(), Summary: strings.Repeat("words ", 40),
		})
	}
	_, err := w.a.Catalog.Put(ctx, items)
	w.must("items", err)
	for range max(1, w.plan.calls/30) {
		author := w.any(w.members)
		p := social.Post{Author: author, Caption: "About " + subject(w.rnd.IntN(30)), Audience: social.Audience{Public: true}}
		if w.rnd.IntN(3) == 0 {
			p.Audience = social.Audience{Followers: true}
		}
		if w.rnd.IntN(4) == 0 {
			p.Mentions = []string{w.any(w.members)}
		}
		if len(w.posts) > 0 && w.rnd.IntN(3) == 0 {
			p.Audience, p.ReplyTo, p.Mentions = social.Audience{}, w.posts[w.rnd.IntN(len(w.posts))].id, nil
		}
		post, _, err := w.a.Social.CreatePost(ctx, p, social.Creation{Key: w.name("key")})
		w.must("posts", err)
		if err == nil {
			w.posts = append(w.posts, yearPost{post.ID, author, now.AddDate(0, 0, 3+w.rnd.IntN(20))})
		}
	}
	w.posts = w.ended(w.posts, "deleted posts", func(p yearPost) error { return w.a.Social.DeletePost(ctx, p.id, p.by, time.Time{}) })
	w.groups = w.ended(w.groups, "dropped groups", func(g yearPost) error { return w.a.Social.DropCircle(ctx, g.id, g.by, time.Time{}) })
}

// ended ends what is due, and returns the others.
func (w *yearWorld) ended(all []yearPost, what string, end func(yearPost) error) (left []yearPost) {
	for _, p := range all {
		if p.until.After(w.now.Now()) {
			left = append(left, p)
			continue
		}
		w.must(what, end(p))
	}
	return left
}

// read has readers refresh, page on, and act on what they are shown.
func (w *yearWorld) read() {
	ctx := w.Context()
	for i := range w.plan.calls / 4 {
		agent := w.any(w.readers)
		if i%4 == 0 {
			agent = w.any(w.members)
		}
		r := refresh(agent, 10)
		switch w.rnd.IntN(6) {
		case 0:
			r.Feed = feed.HomeFeed
		case 1:
			r.Feed = feed.Name("tag:" + subject(w.rnd.IntN(30)))
		case 2:
			r.RequestID = w.name("request")
		}
		answer, err := w.a.Engine.Feed(ctx, r)
		w.must("refreshes", err)
		if w.rnd.IntN(3) == 0 {
			_, err := w.a.Engine.Feed(ctx, loadMore(agent, 10))
			w.must("load_mores", err)
		}
		for _, d := range answer.Docs {
			if w.rnd.IntN(8) > 0 || feed.IsPost(d.ID) {
				continue
			}
			kind := []events.Kind{events.Click, events.Click, events.Click, events.Like, events.Dislike, events.Hide}[w.rnd.IntN(6)]
			_, err := w.a.Engine.React(ctx, agent, []engine.Act{act(kind, d.ID)})
			w.must(string(kind), err)
		}
	}
}

// socialize has members like, follow, mute, invite and be told.
func (w *yearWorld) socialize() {
	ctx, s := w.Context(), w.a.Social
	for range max(2, w.plan.calls/8) {
		a, b := w.any(w.members), w.any(w.members)
		switch w.rnd.IntN(12) {
		case 0, 1, 2:
			if len(w.posts) > 0 {
				_, _, err := s.Like(ctx, a, w.posts[w.rnd.IntN(len(w.posts))].id)
				w.must("likes", err)
			}
		case 3, 4:
			w.mustChange("follows")(s.Follow(ctx, a, b, time.Time{}))
		case 5, 6:
			w.unfollow(a)
		case 7:
			w.mustChange("timed mutes")(s.Mute(ctx, a, social.MuteInviter, b, w.now.Now().AddDate(0, 0, 3)))
			w.must("profiles", w.a.Engine.PutProfile(ctx, a, feed.Profile{Interests: map[string]float64{subject(w.rnd.IntN(30)): 1}, MutedTags: []string{"mud"}}))
		case 8:
			w.group(a, b)
		case 9:
			inbox, err := s.Notifications(ctx, a)
			w.must("notifications read", err)
			if err == nil {
				w.mustChange("notifications seen")(s.SeeNotifications(ctx, a, inbox.Last))
			}
		case 10:
			w.must("suggestions", s.KeepSuggested(ctx, a, []social.Suggestion{}, w.now.Now()))
		case 11:
			w.call(http.MethodGet, "/v1/timeline", a)
		}
	}
}

func (w *yearWorld) mustChange(what string) func(bool, error) {
	return func(_ bool, err error) { w.Helper(); w.must(what, err) }
}

func (w *yearWorld) unfollow(agent string) {
	all, err := w.a.Social.Following(w.Context(), agent, agent, "", 50)
	w.must("followees read", err)
	if len(all) > 0 {
		w.mustChange("unfollows")(w.a.Social.Unfollow(w.Context(), agent, all[w.rnd.IntN(len(all))], time.Time{}))
	}
}

// group creates a group, to which somebody is invited; later members join and leave.
func (w *yearWorld) group(owner, other string) {
	ctx, s := w.Context(), w.a.Social
	id := w.name("g")
	_, err := s.ChangeCircle(ctx, id, owner, social.CircleChange{CircleTerms: social.CircleTerms{Kind: social.KindGroup}})
	w.must("groups", err)
	if err != nil {
		return
	}
	w.groups = append(w.groups, yearPost{id, owner, w.now.Now().AddDate(0, 0, 10)})
	w.mustChange("invitations")(s.Invite(ctx, id, other, owner))
	if w.rnd.IntN(2) == 0 {
		w.mustChange("declined")(s.Withdraw(ctx, id, other, other))
		return
	}
	w.mustChange("joined")(s.AddMember(ctx, id, other, other, time.Time{}))
	post, _, err := s.CreatePost(ctx, social.Post{Author: owner, Caption: "Here", Audience: social.Audience{Circles: []string{id}}}, social.Creation{})
	w.must("posts to groups", err)
	if err == nil {
		w.posts = append(w.posts, yearPost{post.ID, owner, w.now.Now().AddDate(0, 0, 20)})
	}
	w.mustChange("left groups")(s.RemoveMember(ctx, id, other, other, time.Time{}))
}

// moderate has agents report posts, and a moderator decide.
func (w *yearWorld) moderate() {
	ctx, s := w.Context(), w.a.Social
	for range 3 {
		if len(w.posts) == 0 {
			return
		}
		o := social.Object{Kind: social.ObjectPost, ID: w.posts[w.rnd.IntN(len(w.posts))].id}
		w.mustChange("reports")(s.Report(ctx, social.Report{Object: o, Agent: w.any(w.members), Reason: "spam", Details: "the same again"}))
		action := []social.Action{social.ActionDismiss, social.ActionHold, social.ActionRemove}[w.rnd.IntN(3)]
		w.mustChange("decisions")(s.Moderate(ctx, social.Moderate{Object: o, Action: action, Reason: "spam", By: "admin"}))
	}
}

// comeAndGo erases a member, in whose place comes another, and lets some readers be seen no more.
func (w *yearWorld) comeAndGo() {
	i := w.rnd.IntN(len(w.members))
	require.Equal(w, http.StatusOK, w.call(http.MethodDelete, "/v1/agents/"+w.members[i], ""), "erase")
	w.done["erasures"]++
	w.members[i] = w.join()
	for range max(1, w.plan.readers/250) {
		w.readers[w.rnd.IntN(len(w.readers))] = w.name("reader")
		w.done["readers who left"]++
	}
}

// join makes a member, with a card.
func (w *yearWorld) join() string {
	agent := w.name("member")
	w.must("cards", w.a.Social.PutAuthor(w.Context(), social.Author{ID: agent, Name: "Member " + agent}, time.Time{}))
	return agent
}

// operate changes the ranking, runs experiments and promotions, and uploads an image now and then.
func (w *yearWorld) operate(day int) {
	switch day % 30 {
	case 0:
		putRanking(w.T, w.a, `{"ranking":{"co_read":{"weight":3}},"experiments":[]}`)
		w.done["ranking"]++
	case 10:
		putRanking(w.T, w.a, `{"experiments":[{"name":"aa","share":0.5}]}`)
		w.done["ranking"]++
	case 5, 15, 25:
		from := w.now.Now().Unix()
		w.must("promotions", w.a.Social.PutPromotion(w.Context(), social.Promotion{ID: w.name("promotion"), ItemID: fmt.Sprint("item_", w.named), From: from, Until: from + 86400, Weight: 1}))
	case 2, 12, 22:
		if w.a.network.files != nil {
			w.upload()
		}
	}
}

// upload publishes a post with an image.
func (w *yearWorld) upload() {
	author := w.any(w.members)
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	require.NoError(w, form.WriteField("post", `{"caption":"x","audience":{"public":true}}`))
	part, err := form.CreateFormFile("image", "x.png")
	require.NoError(w, err)
	picture := image.NewGray(image.Rect(0, 0, 8, 8))
	picture.Pix[0] = byte(w.named)
	require.NoError(w, png.Encode(part, picture))
	require.NoError(w, form.Close())
	r := httptest.NewRequest(http.MethodPost, "/v1/posts", &body)
	r.Header.Set("X-Agent-ID", author)
	r.Header.Set("Content-Type", form.FormDataContentType())
	answer := httptest.NewRecorder()
	w.a.Handler.ServeHTTP(answer, r)
	require.Equal(w, http.StatusCreated, answer.Code, answer.Body)
	var made struct {
		Data struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	require.NoError(w, json.Unmarshal(answer.Body.Bytes(), &made))
	w.posts = append(w.posts, yearPost{made.Data.ID, author, w.now.Now().AddDate(0, 0, 5)})
	w.done["images"]++
}

// call makes a call as an agent, or as an admin.
func (w *yearWorld) call(method, path, agent string) int {
	r := httptest.NewRequest(method, path, nil)
	if agent != "" {
		r.Header.Set("X-Agent-ID", agent)
	} else {
		r.Header.Set("X-Admin-Token", w.a.cfg.Auth.AdminToken)
	}
	answer := httptest.NewRecorder()
	w.a.Handler.ServeHTTP(answer, r)
	w.done[method+" "+strings.TrimRight(path, "0123456789")]++
	return answer.Code
}

// purge lets the periodic work of a day run.
func (w *yearWorld) purge() {
	ctx := w.Context()
	require.NoError(w, w.a.Flush(ctx))
	retryFailed(w, w.a)
	w.letPass()
	client := w.a.clients.redis
	if client != nil { // by the clock of Redis, the turn of the day before has not ended
		require.NoError(w, client.Del(ctx, keysOf(w.a).RetentionLease()).Err())
	}
	w.a.purger.Round(ctx)
	_, err := w.a.network.store.Sweep(ctx, 10_000)
	require.NoError(w, err)
	if err := w.a.overview.Sample(ctx); err != nil {
		w.Logf("overview: %v", err)
	}
}

// settle waits until all jobs that are due are done.
func (w *yearWorld) settle() {
	w.now.Advance(time.Second)
	testenv.WaitFor(w, func() bool {
		retryFailed(w, w.a)
		stats, err := w.a.network.store.Stats(w.Context())
		return err == nil && stats.Oldest == 0
	}, "no job is due")
	for _, j := range w.dead() {
		require.Fail(w, "a job has failed for good", "%s %s: %s", j.Kind, j.Key, j.Error)
	}
}

func (w *yearWorld) dead() []jobs.Job {
	list, err := w.a.network.store.List(w.Context(), jobs.Filter{State: jobs.Dead})
	require.NoError(w, err)
	return list
}
