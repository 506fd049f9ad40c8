package backup

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
	"slices"
	"time"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/server/connect"
	"github.com/freshet/freshet/server/itemindex"
	"github.com/freshet/freshet/server/sharedsettings"
)

// The names of indices in a backup, whatever elasticsearch.index is.
const (
	itemsIndex    = "items"
	profilesIndex = "profiles"
	rankingIndex  = "ranking"
)

// indices returns the indices that Freshet writes, by their names in a backup. An index of items that others
// manage is not among them.
func indices(cfg configs.Config) map[string]string {
	items := cfg.Elasticsearch.Index
	all := map[string]string{profilesIndex: esindex.Agents(items), rankingIndex: esindex.Rankings(items)}
	if cfg.Elasticsearch.ManageIndex {
		all[itemsIndex] = items
	}
	return all
}

// document is a line of the file of an index.
type document struct {
	ID      string          `json:"id"`
	Routing string          `json:"routing,omitempty"`
	Source  json.RawMessage `json:"source"`
}

func documentsOf(name string) string { return "elasticsearch/" + name + ".ndjson" }

// elasticPatience is how long one request may take: a page of documents takes longer than a reader's call.
const elasticPatience = 5 * time.Minute

// openElastic opens Elasticsearch.
func openElastic(cfg configs.Config) (esindex.Client, error) {
	cfg.Server.RequestTimeout = elasticPatience
	return connect.Elastic(cfg, slog.New(slog.DiscardHandler))
}

// export writes the documents of an index, a line each, in the order of the index. The settings that servers
// share are left out: they are those of the servers, not of the items.
func export(ctx context.Context, client esindex.Client, index string, w io.Writer) error {
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	return esindex.Export(ctx, client, index, func(d esindex.Document) error {
		if d.ID == sharedsettings.DocID && isSettings(d.Source) {
			return nil
		}
		if err := lines.Encode(document{d.ID, d.Routing, d.Source}); err != nil {
			return fmt.Errorf("the document %s of %s cannot be written as JSON, store it again: %w", d.ID, index, err)
		}
		return nil
	})
}

// isSettings reports whether a document has the settings that servers share.
func isSettings(source []byte) bool {
	var of map[string]json.RawMessage
	return json.Unmarshal(source, &of) == nil && len(of) == 1 && of["settings"] != nil
}

// elastic copies the indices: profiles, versions of the ranking, and items.
func (r *run) elastic(ctx context.Context, p *Part) error {
	client, err := openElastic(r.cfg)
	if err != nil {
		return err
	}
	p.Files, p.Tables = nil, map[string]Table{}
	all := indices(r.cfg)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		lines := &lineSums{told: func(n int64) { r.opts.progress(name, n, 0) }}
		err := r.writeFile(ctx, p, documentsOf(name), func(w io.Writer) error {
			buffered := bufio.NewWriterSize(io.MultiWriter(w, lines), chunk)
			return errors.Join(export(ctx, client, all[name], buffered), buffered.Flush())
		})
		if err != nil {
			return fmt.Errorf("index %s: %w", all[name], err)
		}
		p.Tables[name], p.Count = lines.table(), p.Count+lines.sum.Rows
	}
	return nil
}

// emptyElastic returns an error if an index of the backup has documents.
func (r *restoring) emptyElastic(ctx context.Context, p *Part) error {
	client, err := openElastic(r.cfg)
	if err != nil {
		return err
	}
	for name, index := range indices(r.cfg) {
		if _, ok := p.Tables[name]; !ok {
			continue
		}
		n, err := esindex.Count(ctx, client, index)
		if err != nil {
			return fmt.Errorf("index %s: %w", index, err)
		}
		if n > 0 {
			return fmt.Errorf("the index %s has %d documents: delete it, or name another elasticsearch.index", index, n)
		}
	}
	return nil
}

// elastic creates the indices as servers do, and stores the documents.
func (r *restoring) elastic(ctx context.Context, p *Part) error {
	client, err := openElastic(r.cfg)
	if err != nil {
		return err
	}
	items := r.cfg.Elasticsearch.Index
	if r.cfg.Elasticsearch.ManageIndex {
		fields := itemindex.Fields(r.cfg)
		if _, err = esindex.Ensure(ctx, client, items, fields); err == nil {
			err = esindex.AddFields(ctx, client, items, fields, r.cfg.HalfLives())
		}
	} else {
		_, err = esindex.EnsureBeside(ctx, client, items)
	}
	if err != nil {
		return err
	}
	done, all := int64(0), indices(r.cfg)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if _, ok := p.Tables[name]; !ok {
			continue
		}
		err := r.readFile(ctx, p, documentsOf(name), func(in io.Reader) error {
			lines := json.NewDecoder(bufio.NewReaderSize(in, chunk))
			return esindex.Import(ctx, client, all[name], func() (d esindex.Document, more bool, err error) {
				var line document
				err = lines.Decode(&line)
				if errors.Is(err, io.EOF) {
					return d, false, nil
				}
				done++
				r.opts.progress(p.Name, done, p.Count)
				return esindex.Document{ID: line.ID, Routing: line.Routing, Source: bytes.TrimSpace(line.Source)}, true, err
			})
		})
		if err != nil {
			return fmt.Errorf("index %s: %w", all[name], err)
		}
	}
	return nil
}

// elastic compares the documents of the indices.
func (c *comparison) elastic(ctx context.Context, p *Part) error {
	client, err := openElastic(c.cfg)
	if err != nil {
		return err
	}
	found := map[string]Table{}
	for name, index := range indices(c.cfg) {
		lines := &lineSums{told: func(n int64) { c.opts.progress(name, n, p.Tables[name].Rows) }}
		if err := export(ctx, client, index, lines); err != nil {
			return fmt.Errorf("index %s: %w", index, err)
		}
		found[name] = lines.table()
	}
	c.tables(p, found)
	return nil
}
