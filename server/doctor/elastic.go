package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/ownmachine"
	"github.com/freshet/freshet/server/connect"
	"github.com/freshet/freshet/server/itemindex"
	"github.com/freshet/freshet/server/sharedsettings"
)

// The requirements on Elasticsearch in docs/production.md, verbatim; a test compares them.
const (
	needsReplicas = "Each index needs a replica on another node: without one, a lost node takes its items with it."
	needsDisk     = "Each disk needs room below the watermarks: past the low one a node gets no new shards, past the flood stage its indices refuse writes."
)

const monitorFix = "give the user the cluster privilege monitor, or compare with docs/production.md"

func indices(cfg configs.Config) []string {
	index := cfg.Elasticsearch.Index
	return []string{index, esindex.Agents(index), esindex.Rankings(index)}
}

func (d *doctor) checkElastic(ctx context.Context) {
	const what = "elasticsearch"
	where := strings.Join(d.cfg.Elasticsearch.Addresses, ", ")
	client, err := connect.Elastic(d.cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		d.report(Broken, what, "correct elasticsearch.addresses or ca_cert", "%v", err)
		return
	}
	about, err := esindex.CheckProduct(ctx, client)
	answers := esindex.Privilege(err) != ""
	if err != nil && !answers {
		fix := connect.TLSAdvice(err, connect.Schemes{
			Plain: "http://", TLS: "https://", Settings: what,
			Encrypted: strings.HasPrefix(d.cfg.Elasticsearch.Addresses[0], "https://"),
		})
		var other *esindex.OtherProductError
		if errors.As(err, &other) {
			fix = "name an Elasticsearch 8 or an OpenSearch 2 in elasticsearch.addresses"
		}
		fix = cmp.Or(fix, ownmachine.Advice(err, "elasticsearch.addresses"), "start Elasticsearch, or correct elasticsearch.addresses, elasticsearch.password or elasticsearch.api_key")
		d.report(Broken, what, orProxy(fix, d.cfg.Elasticsearch.Addresses[0]), "%s: %v", where, err)
		return
	}
	switch {
	case answers:
		d.report(Warning, what, "", "%s answers, but its version could not be checked: %v", where, err)
	case !about.Tested():
		d.report(Warning, what, "use Elasticsearch 8 or OpenSearch 2.19", "%s is %s; Freshet is tested with Elasticsearch 8 and OpenSearch 2.19", where, about)
	default:
		d.report(OK, what, "", "%s answers, %s", where, about)
	}
	d.checkElasticClocks(ctx, client)
	d.checkIndex(ctx, client)
	d.checkAgreement(ctx, what, sharedsettings.InElastic(client, d.cfg.Elasticsearch.Index))
	d.checkReplicas(ctx, client)
	d.checkIndexSettings(ctx, client)
	d.tryElasticWrites(ctx, client)
	d.checkWriteAliases(ctx, client)
	d.checkDisks(ctx, client)
}

func (d *doctor) checkElasticClocks(ctx context.Context, client esindex.Client) {
	sent := d.clock()
	nodes, err := esindex.CheckClocks(ctx, client)
	if err != nil {
		d.report(Warning, "elasticsearch clocks", monitorFix, "could not be checked: %v", err)
		return
	}
	for id, now := range nodes {
		d.skew("elasticsearch node "+id, sent, now)
	}
}

// checkWriteAliases reports existing indices that are not written through an alias: while such an
// index is missing, a write creates it with types that Elasticsearch guesses.
func (d *doctor) checkWriteAliases(ctx context.Context, client esindex.Client) {
	const what = "elasticsearch write aliases"
	var plain []string
	found := 0
	for _, index := range itemindex.Written(d.cfg) {
		target, err := esindex.CheckTarget(ctx, client, index)
		switch {
		case esindex.Missing(err):
			continue
		case err != nil:
			d.report(Warning, what, "give the user the privilege view_index_metadata for the indices", "of %s could not be checked: %v", index, err)
			return
		case !target.Alias:
			plain = append(plain, index)
		}
		found++
	}
	if len(plain) > 0 {
		d.report(Warning, what, "give the user the privilege manage for the indices and start freshet, or add for each the alias NAME"+esindex.WriteAlias("")+" to it alone",
			"missing for %s: if the index is deleted, a write creates it with types that Elasticsearch guesses", list(plain))
		return
	}
	if found > 0 {
		d.report(OK, what, "", "each index is written through its alias")
	}
}

// tryElasticWrites tries a write to each index that exists.
func (d *doctor) tryElasticWrites(ctx context.Context, client esindex.Client) {
	const what = "elasticsearch writes"
	tried := 0
	for _, index := range itemindex.Written(d.cfg) {
		switch err := esindex.TryWrite(ctx, client, index); {
		case esindex.Missing(err):
		case err != nil:
			d.report(Broken, what, "see the message; the user needs the privilege write for the index, its disks room, and documents must pass its ingest pipeline", "%s cannot be written: %v", index, err)
			return
		default:
			tried++
		}
	}
	if tried > 0 {
		d.report(OK, what, "", "were tried")
	}
}

// checkIndexSettings reports index settings that do not come from Freshet, and their effect.
func (d *doctor) checkIndexSettings(ctx context.Context, client esindex.Client) {
	const what = "elasticsearch index settings"
	found, err := esindex.CheckSettings(ctx, client, d.cfg.Elasticsearch.Index)
	if err != nil {
		d.report(Warning, what, "give the user the privilege view_index_metadata for the indices", "could not be checked: %v", err)
		return
	}
	for _, s := range found {
		level := Warning
		if s.Breaks {
			level = Broken
		}
		fix := "remove the setting from the index and from its template, unless it is intended"
		if s.Name == "index.blocks.read_only_allow_delete" { // it would come back
			fix = "free or add disk space, or add a data node; if it stays although there is room, remove it"
		}
		d.report(level, what, fix, "%s of %s is %s: %s", s.Name, s.Index, s.Value, s.Effect)
	}
	if len(found) == 0 {
		d.report(OK, what, "", "no index has a setting that prevents writes or searches")
	}
}

// checkReplicas checks whether the loss of a node can be survived. Missing indices are reported
// elsewhere.
func (d *doctor) checkReplicas(ctx context.Context, client esindex.Client) {
	const what, fix = "elasticsearch replicas", "set index.number_of_replicas to 1, and add a second data node"
	rows, err := esindex.CheckCopies(ctx, client, indices(d.cfg))
	if err != nil {
		d.report(Warning, what, monitorFix, "could not be checked: %v", err)
		return
	}
	var broken, none, nowhere []string
	for _, row := range rows {
		switch {
		case row.Health == "red":
			broken = append(broken, row.Index)
		case row.Replicas == "0":
			none = append(none, row.Index)
		case row.Health == "yellow":
			nowhere = append(nowhere, row.Index)
		}
	}
	if len(broken) > 0 {
		d.report(Broken, what, "see GET _cluster/allocation/explain", "without a primary shard, so searches lack its items: %s", list(broken))
	}
	if len(none) > 0 {
		d.report(Warning, what, fix, "without replicas: %s. %s", list(none), needsReplicas)
	}
	if len(nowhere) > 0 {
		d.report(Warning, what, fix, "with unassigned replicas: %s. %s", list(nowhere), needsReplicas)
	}
	if len(rows) > 0 && len(broken)+len(none)+len(nowhere) == 0 {
		d.report(OK, what, "", "each index has replicas on other nodes")
	}
}

func list(names []string) string {
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// checkDisks compares the data nodes' free space with the watermarks.
func (d *doctor) checkDisks(ctx context.Context, client esindex.Client) {
	const what, fix = "elasticsearch disks", "free or add disk space, or add a data node"
	disks, held, err := esindex.CheckDisks(ctx, client)
	if err != nil {
		d.report(Warning, what, monitorFix, "could not be checked: %v", err)
		return
	}
	if !held {
		d.report(Warning, what, "set cluster.routing.allocation.disk.threshold_enabled to true",
			"cluster.routing.allocation.disk.threshold_enabled is false: no watermark is enforced. %s", needsDisk)
		return
	}
	var room []string
	for _, node := range disks {
		if node.Mark != "" {
			d.report(Warning, what, fix, "%s has %s free, past the %s watermark (%s). %s", node.Node, mebibytes(node.Free), node.Mark, node.Limit, needsDisk)
			continue
		}
		room = append(room, fmt.Sprintf("%s has %s free", node.Node, mebibytes(node.Free)))
	}
	if len(room) > 0 {
		d.report(OK, what, "", "%s", strings.Join(room, ", "))
	}
}
