package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
)

// A server ranks for each click by each ranking, so that many are asked for in
// one call.
const replayAtOnce = 400

// What a replay does not know.
const replayLimits = `What a replay cannot know: it ranks with today's catalog, profiles and likes, not those of the click;
it leaves nothing out that the agent had been shown by then; and people can only click what a ranking
has shown them, so whatever was live at the time has the better chances.
`

type replayFlags struct {
	server        *string
	token         func() string
	a, b, sweep   string
	steps, k      int
	depth         int
	json          bool
	allowRejected bool
}

func newDecayReplayCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "replay EVENTS.ndjson",
		Short: "Score rankings by where they would have placed what was clicked",
		Long: "Reads events, one JSON object a line, - for standard input:\n\n" +
			`  {"agent_id":"u_1","id":"doc_9527","at":"2026-03-06T12:00:00Z","type":"click"}` + "\n\n" +
			"For each click the agent's ranking is made as of that moment by every set of parameters, and the clicked\n" +
			"item's rank is scored: hit rate and NDCG at k, and mean reciprocal rank. Other types of events are skipped\n" +
			"and counted. The exit code is 1 when a line could not be read, unless --allow-rejected is given.\n\n" + replayLimits,
		Example: "  freshet decay replay clicks.ndjson --b scale=72h\n  freshet decay replay clicks.ndjson --sweep scale=6h..168h --steps 6",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("give one file of events, or - for standard input, not %d", len(args))
			}
			return nil
		},
	}
	f := replayFlags{server: serverFlag(cmd), token: adminTokenFlag(cmd)}
	flags := cmd.Flags()
	flags.StringVar(&f.a, "a", "", "what to compare with, as changes to the live ranking; empty: the live ranking")
	flags.StringVar(&f.b, "b", "", "what to compare, as changes to the live ranking")
	flags.StringVar(&f.sweep, "sweep", "", "a parameter and its values, such as scale=6h..168h, instead of --b")
	flags.IntVar(&f.steps, "steps", 8, "how many values a range low..high becomes")
	flags.IntVar(&f.k, "k", offline.DefaultK, "how far down an item counts as found, 1 to the depth")
	flags.IntVar(&f.depth, "depth", offline.DefaultDepth, "how far is ranked, 1 to 2000; what stands lower counts as not found")
	flags.BoolVar(&f.json, "json", false, "print the scores as JSON")
	flags.BoolVar(&f.allowRejected, "allow-rejected", false, "exit 0 even when lines could not be read")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return replay(cmd, f, args[0]) }
	return cmd
}

// contestant is one set of parameters and how it did.
type contestant struct {
	Name    string         `json:"name"`
	Changes string         `json:"changes"`
	Ranking feed.Ranking   `json:"ranking"`
	Scores  offline.Scores `json:"scores"`
	// Of the clicks, how many it places higher and lower than A.
	Higher int `json:"higher"`
	Lower  int `json:"lower"`
	// Gain is its NDCG less that of A, and lies within Gain ± Margin (95 %); a
	// nil Margin says that there are too few agents to tell.
	Gain   float64  `json:"ndcg_gain"`
	Margin *float64 `json:"ndcg_gain_margin"`

	tally offline.Tally
	gains offline.Paired
}

// replayReport is what the command prints.
type replayReport struct {
	Clicks      int                      `json:"clicks"` // that score
	Agents      int                      `json:"agents"`
	K           int                      `json:"k"`
	Depth       int                      `json:"depth"`
	Contestants []contestant             `json:"rankings"`
	NotScored   map[offline.Replayed]int `json:"not_scored"`
	Skipped     map[string]int           `json:"skipped"` // events of other types
	Rejected    int                      `json:"rejected"`
	Errors      []badLine                `json:"errors"` // the first of those rejected

	agents map[string]struct{}
}

func replay(cmd *cobra.Command, f replayFlags, path string) error {
	report, err := f.check()
	if err != nil {
		return &usageError{cmd.CommandPath(), err}
	}
	source, size, err := open(cmd.InOrStdin(), path)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	c, err := connect(cmd, *f.server, client.WithToken(f.token()), client.WithRetries(3, time.Second))
	if err != nil {
		return err
	}
	defer c.Close()
	bar := progress(cmd.ErrOrStderr(), size)
	bar.Describe("replaying")
	if err := report.run(cmd.Context(), c, progressbar.NewReader(source, bar)); err != nil {
		_ = bar.Finish()
		return err
	}
	_ = bar.Finish()
	write := report.write
	if f.json {
		write = func(w io.Writer) error { return writeJSON(w, report) }
	}
	if err := write(cmd.OutOrStdout()); err != nil {
		return err
	}
	if report.Rejected > 0 && !f.allowRejected {
		return fmt.Errorf("lines that could not be read: %d (--allow-rejected makes this a success)", report.Rejected)
	}
	return nil
}

// check makes the list of contestants.
func (f *replayFlags) check() (*replayReport, error) {
	report := &replayReport{
		K: f.k, Depth: f.depth, NotScored: map[offline.Replayed]int{}, agents: map[string]struct{}{}, Errors: []badLine{},
		Contestants: []contestant{{Name: "A", Changes: f.a}},
	}
	if f.depth < 1 || f.depth > 2000 {
		return nil, fmt.Errorf("--depth must be 1 to 2000, not %d", f.depth)
	}
	if f.k < 1 || f.k > f.depth {
		return nil, fmt.Errorf("--k must be 1 to the depth, %d, not %d", f.depth, f.k)
	}
	if f.b != "" && f.sweep != "" {
		return nil, errors.New("give --b or --sweep, not both")
	}
	if err := errors.Join(checkChanges("--a", f.a), checkChanges("--b", f.b)); err != nil {
		return nil, err
	}
	if f.b != "" {
		report.Contestants = append(report.Contestants, contestant{Name: "B", Changes: f.b})
	}
	if f.sweep == "" {
		return report, nil
	}
	name, text, _ := strings.Cut(f.sweep, "=")
	if !slices.Contains(sweepable, name) {
		return nil, fmt.Errorf("--sweep: say a parameter and its values, such as scale=6h..168h; there are %s", strings.Join(sweepable, ", "))
	}
	p, err := parseRange(name, text, f.steps)
	if err != nil {
		return nil, err
	}
	if len(p.values) >= offline.MaxRankings {
		return nil, fmt.Errorf("--sweep: these are %d values, at most %d are replayed", len(p.values), offline.MaxRankings-1)
	}
	for i := range p.values {
		report.Contestants = append(report.Contestants, contestant{Name: p.change(i), Changes: p.change(i)})
	}
	return report, nil
}

// run replays the whole file, batch after batch.
func (r *replayReport) run(ctx context.Context, c *client.Client, source progressbar.Reader) error {
	in := newEvents(&source)
	batch := min(max(1, replayAtOnce/len(r.Contestants)), offline.MaxClicks)
	request := client.ReplayRequest{Depth: r.Depth}
	for _, x := range r.Contestants {
		request.Rankings = append(request.Rankings, x.Changes)
	}
	for {
		clicks, err := in.next(batch)
		if err != nil {
			return err
		}
		if len(clicks) > 0 {
			request.Clicks = clicks
			if err := r.ask(ctx, c, request); err != nil {
				return fmt.Errorf("up to line %d: %w", in.line, err)
			}
		}
		if len(clicks) < batch {
			break
		}
	}
	r.Skipped, r.Rejected, r.Agents = in.skipped, in.bad, len(r.agents)
	r.Errors = append(r.Errors, in.shown...)
	for i := range r.Contestants {
		x := &r.Contestants[i]
		x.Scores, _ = x.tally.Scores()
		x.Gain = x.gains.Mean()
		if margin, ok := x.gains.Margin(); ok {
			x.Margin = &margin
		}
	}
	return nil
}

func (r *replayReport) ask(ctx context.Context, c *client.Client, request client.ReplayRequest) error {
	ctx, cancel := context.WithTimeout(ctx, compareWait)
	defer cancel()
	got, err := c.Replay(ctx, request)
	if err != nil {
		return err
	}
	if len(got.Outcomes) != len(request.Clicks) || len(got.Rankings) != len(r.Contestants) {
		return errors.New("the server answered for other clicks than it was asked for; it and this command must be of one version")
	}
	for i := range r.Contestants {
		x := &r.Contestants[i]
		if x.tally.Clicks+sum(r.NotScored) > 0 && x.Ranking != got.Rankings[i] {
			return errors.New("the live ranking was changed meanwhile; run the command again")
		}
		x.Ranking = got.Rankings[i]
	}
	for i, outcome := range got.Outcomes {
		if !outcome.State.Scores() {
			r.NotScored[outcome.State]++
			continue
		}
		r.Clicks++
		r.agents[request.Clicks[i].Agent] = struct{}{}
		r.score(request.Clicks[i].Agent, outcome.Ranks)
	}
	return nil
}

// score counts one click, with its rank by each contestant.
func (r *replayReport) score(agent string, ranks []int) {
	for i, rank := range ranks {
		x := &r.Contestants[i]
		x.tally.Add(rank, r.K)
		x.gains.Add(agent, offline.NDCG([]int{rank}, r.K)-offline.NDCG(ranks[:1], r.K))
		switch higher(rank, ranks[0]) {
		case 1:
			x.Higher++
		case -1:
			x.Lower++
		}
	}
}

// higher is 1 where a is nearer to the top than b, −1 where b is; 0 is no rank,
// the lowest of all.
func higher(a, b int) int {
	switch {
	case a == b:
		return 0
	case b == 0 || a != 0 && a < b:
		return 1
	}
	return -1
}

func sum(counts map[offline.Replayed]int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

func (r *replayReport) write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s, ranked as of each click, the first %d\n\n", counted(r.Clicks, "click"), counted(r.Agents, "agent"), r.Depth)
	if r.Clicks > 0 {
		t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintf(t, "\tHIT RATE@%d\tNDCG@%[1]d\tMRR\tNDCG-A\tHIGHER\tLOWER\tRANKING\n", r.K)
		for i, x := range r.Contestants {
			versus := fmt.Sprintf("%s\t%d\t%d", x.gain(), x.Higher, x.Lower)
			if i == 0 {
				versus = "\t\t"
			}
			fmt.Fprintf(t, "%s\t%.3f\t%.3f\t%.3f\t%s\t%s\n", x.Name, x.Scores.HitRate, x.Scores.NDCG, x.Scores.MRR, versus, x.Ranking)
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	fmt.Fprintf(&b, "\n%s\n", r.conclusion())
	r.rest(&b)
	b.WriteString("\n" + replayLimits)
	_, err := io.WriteString(w, b.String())
	return err
}

// rest tells of every event that is in no score.
func (r *replayReport) rest(b *strings.Builder) {
	why := map[offline.Replayed]string{
		offline.Gone:    "of items that are not in the catalog any more",
		offline.Later:   "of items that the catalog has with a date after the click",
		offline.Refused: "of items that the agent has muted by now",
	}
	for _, state := range slices.Sorted(maps.Keys(r.NotScored)) {
		fmt.Fprintf(b, "not scored: %s %s\n", counted(r.NotScored[state], "click"), cmp.Or(why[state], string(state)))
	}
	for _, kind := range slices.Sorted(maps.Keys(r.Skipped)) {
		fmt.Fprintf(b, "skipped: %s of type %q\n", counted(r.Skipped[kind], "event"), kind)
	}
	for _, e := range r.Errors {
		fmt.Fprintf(b, "line %d: %s\n", e.Line, e.Reason)
	}
	if hidden := r.Rejected - len(r.Errors); hidden > 0 {
		fmt.Fprintf(b, "and %s that could not be read\n", counted(hidden, "more line"))
	}
}

// conclusion says in a sentence what the scores mean.
func (r *replayReport) conclusion() string {
	if r.Clicks == 0 {
		return "There is no click to score."
	}
	best := slices.MaxFunc(r.Contestants, func(a, b contestant) int { return cmp.Compare(a.Scores.NDCG, b.Scores.NDCG) })
	switch len(r.Contestants) {
	case 1:
		return fmt.Sprintf("%s of the clicked items stand among the first %d.", share(best.Scores.HitRate), r.K)
	case 2:
		b := r.Contestants[1]
		switch {
		case b.Margin == nil:
			return "There are clicks of too few agents to say whether the difference is more than chance."
		case math.Abs(b.Gain) <= *b.Margin:
			return "The difference between A and B may be chance: the 95% interval of the NDCG's has 0 in it."
		case b.Gain > 0:
			return "B places the clicked items better, and that is more than chance (95%)."
		}
		return "B places the clicked items worse, and that is more than chance (95%)."
	}
	if best.Scores.NDCG == r.Contestants[0].Scores.NDCG {
		return "None of them has a better NDCG than A."
	}
	return fmt.Sprintf("%s has the best NDCG. The best of many is a little lucky: compare it with A on other clicks before you make it live.", best.Name)
}

// gain is what the NDCG gains over A, with its margin where that is known.
func (x *contestant) gain() string {
	if x.Margin == nil {
		return fmt.Sprintf("%+.3f", x.Gain)
	}
	return fmt.Sprintf("%+.3f ±%.3f", x.Gain, *x.Margin)
}
