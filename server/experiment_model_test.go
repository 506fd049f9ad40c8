package server

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/signals/events"
)

// experimentModel does what readers and admins may do, on any server, and knows what each run should have
// counted: the impressions and clicks of what it has shown, each at its position.
type experimentModel struct {
	t       *testing.T
	rnd     *rand.Rand
	on      string // [configs.Impressions.On]
	servers []*App
	version int
	readers map[string]*experimentReader
	want    map[string]map[string]int64 // by run and count
	clicked map[string]bool
	seen    map[string]bool
}

type experimentReader struct {
	run   string // of the session
	given int    // items of the session
	shown []shownItem
	last  engine.Request // with a request id
	page  []string       // its answer
}

type shownItem struct {
	id, run  string
	position int
}

func (m *experimentModel) server() *App { return m.servers[m.rnd.IntN(len(m.servers))] }

func (m *experimentModel) count(run, field string, position int) {
	if m.want[run] == nil {
		m.want[run] = map[string]int64{}
	}
	m.want[run][field]++
	i := len(events.PositionRanges) - 1
	for events.PositionRanges[i] > position {
		i--
	}
	name := map[string]string{"impressions": "position:", "click": "position_click:"}[field]
	m.want[run][name+strconv.Itoa(i)]++
}

// page takes a page: of a new session, or the next one, which counts if the session's run is in force.
func (m *experimentModel) page(name string, r *experimentReader) {
	asked := refresh(name, 1+m.rnd.IntN(6))
	run, _ := m.servers[0].ranking.For(name)
	if r.run != "" && m.rnd.IntN(3) > 0 {
		asked.Action = engine.ActionLoadMore
	} else {
		r.run, r.given = run, 0
	}
	if m.rnd.IntN(2) == 0 {
		asked.Feed = feed.ForYou
	}
	if m.rnd.IntN(2) == 0 {
		asked.RequestID = fmt.Sprint("r", m.rnd.Uint64())
	}
	list := ids(ask(m.t, m.server(), asked))
	require.Len(m.t, list, asked.Limit)
	if asked.RequestID != "" {
		r.last, r.page = asked, list
	}
	for i, id := range list {
		item := shownItem{id, r.run, r.given + i + 1}
		r.shown = append(r.shown, item)
		if r.run == run && m.on == configs.OnServed {
			m.count(run, "impressions", item.position)
		}
	}
	r.given += len(list)
}

// repeated is the retry of a call: nothing is counted again.
func (m *experimentModel) repeated(r *experimentReader) {
	if r.last.RequestID != "" {
		require.Equal(m.t, r.page, ids(ask(m.t, m.server(), r.last)))
	}
}

// seenOrClicked reports that items were seen, or clicks them, perhaps again.
func (m *experimentModel) seenOrClicked(name string, r *experimentReader) {
	if len(r.shown) == 0 {
		return
	}
	run, _ := m.servers[0].ranking.For(name)
	item := r.shown[m.rnd.IntN(len(r.shown))]
	key := name + " " + item.id
	if m.on == configs.OnSeen {
		require.NoError(m.t, m.server().Engine.Seen(m.t.Context(), name, []string{item.id, "never_shown"}))
		if item.run == run && !m.seen[key] {
			m.seen[key] = true
			m.count(run, "impressions", item.position)
		}
	}
	if m.rnd.IntN(2) == 0 {
		return
	}
	for range 1 + m.rnd.IntN(2) {
		require.Equal(m.t, 1, react(m.t, m.server(), name, act(events.Click, item.id)).Accepted)
	}
	if item.run == run && !m.clicked[key] {
		m.clicked[key] = true
		m.count(run, "click", item.position)
	}
}

// changed changes a share, adds or ends an experiment, or changes the live ranking: runs begin again.
func (m *experimentModel) changed() {
	share := func() float64 { return float64(1+m.rnd.IntN(40)) / 100 }
	body := fmt.Sprintf(`{"experiments":[{"name":"a","share":%v},{"name":"b","share":%v}]}`, share(), share())
	switch m.rnd.IntN(3) {
	case 0:
		body = fmt.Sprintf(`{"experiments":[{"name":"a","share":%v}]}`, share())
	case 1:
		body = fmt.Sprintf(`{"ranking":{"base":%v}}`, 0.1+m.rnd.Float64())
	}
	m.version = putRanking(m.t, m.server(), body).Version
	for _, s := range m.servers {
		waitRanking(m.t, s, m.version)
	}
}

// settle waits until all servers have counted everything.
func (m *experimentModel) settle() {
	for _, s := range m.servers {
		require.NoError(m.t, s.tally.Flush(m.t.Context()))
	}
}

func (m *experimentModel) step() {
	time.Sleep(time.Duration(m.rnd.IntN(5)) * time.Millisecond)
	name := "u_" + strconv.Itoa(m.rnd.IntN(len(m.readers)))
	r := m.readers[name]
	n := m.rnd.IntN(100)
	switch {
	case n < 35:
		m.page(name, r)
	case n < 45:
		m.repeated(r)
	case n < 50:
		silent := refresh(name, 3)
		silent.Silent = true
		ask(m.t, m.server(), silent)
	case n < 97:
		m.seenOrClicked(name, r)
	default:
		m.changed()
	}
}

// check compares the counts of all runs, and their buckets.
func (m *experimentModel) check() {
	m.settle()
	day := feed.DayOf(noon)
	all, err := m.servers[0].counts.Read(m.t.Context(), day-1, day+2)
	require.NoError(m.t, err)
	got := map[string]map[string]int64{}
	for _, total := range all {
		counts := map[string]int64{}
		for field, n := range total.Counts {
			if n > 0 {
				counts[field] = n
			}
		}
		if len(counts) > 0 {
			got[total.Variant] = counts
		}
	}
	delete(got, feed.Control)
	assert.Equal(m.t, m.want, got)
	cells, err := m.servers[0].counts.Cells(m.t.Context(), nil, []events.Column{events.Shown, events.Clicked}, day-1, day+2)
	require.NoError(m.t, err)
	sums := map[string]map[events.Column]int64{}
	for _, c := range cells {
		if sums[c.Run] == nil {
			sums[c.Run] = map[events.Column]int64{}
		}
		for cell, n := range c.Cells {
			sums[c.Run][cell.Column()] += n
		}
	}
	for run, want := range m.want {
		assert.Equal(m.t, []int64{want["impressions"], want["click"]}, []int64{sums[run][events.Shown], sums[run][events.Clicked]}, run)
	}
}

// TestExperimentModel: whatever readers and admins do, around midnight, each act counts for the run that showed
// the item, once, at its position, and for none if that run has ended. It is of one server: another one knows of
// pages only a second later.
func TestExperimentModel(t *testing.T) {
	for _, on := range []string{configs.OnServed, configs.OnSeen} {
		for seed := range uint64(testenv.Steps(1, 8)) {
			t.Run(fmt.Sprintf("impressions when %s, seed %d", on, seed), func(t *testing.T) {
				t.Parallel()
				begun := time.Now()
				cfg := embedded(t)
				cfg.Auth.AdminToken, cfg.Impressions.On = rankingSecret, on
				a := open(t, cfg, WithClock(func() time.Time {
					return time.Date(2026, 3, 6, 23, 59, 59, 0, time.UTC).Add(time.Since(begun))
				}))
				model := &experimentModel{
					t: t, rnd: rand.New(rand.NewPCG(seed, 7)), on: on, servers: []*App{a}, readers: map[string]*experimentReader{},
					want: map[string]map[string]int64{}, clicked: map[string]bool{}, seen: map[string]bool{},
				}
				put(t, a, authored(900)...)
				for i := range 6 {
					model.readers["u_"+strconv.Itoa(i)] = &experimentReader{}
				}
				putRanking(t, a, `{"experiments":[{"name":"a","share":0.5}]}`)
				for range 400 {
					model.step()
				}
				model.check()
			})
		}
	}
}
