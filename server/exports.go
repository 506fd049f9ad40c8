package server

import (
	"context"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/personal"
	"github.com/freshet/freshet/server/datadir"
	"github.com/freshet/freshet/social/export"
	"github.com/freshet/freshet/social/media"
)

// openExports opens the exports of agents. Their files are where all servers find them: in data_dir if there is one
// server, else beside the images, or in the database if there are no images.
func (b *builder) openExports(store SocialStore, blobs media.Store, images *media.Files) (*export.Exporter, error) {
	cfg := export.Config{Store: store, Queue: store, Files: export.Rows{Store: store}, Clock: b.clock, Log: b.log}
	if images != nil {
		cfg.Images = images
	}
	switch {
	case !b.cfg.UsesPostgres():
		dir, err := b.dataDir(datadir.Exports)
		if err != nil {
			return nil, err
		}
		folder, err := export.OpenFolder(dir)
		if err != nil {
			return nil, err
		}
		b.disconnects("exports", folder.Close)
		cfg.Files = folder
	case blobs != nil:
		cfg.Files = export.Objects{Store: blobs}
	}
	return export.New(cfg), nil
}

// personal lists everything that is stored about agents, in the order in which it is erased: what others see comes
// first. It drives erasures and exports.
func (a *App) personal() (list personal.Sources) {
	n := a.network
	if n != nil {
		list = append(list,
			personal.Source{Erase: n.exports.EraseWith(n.shown.EraseAgent), Parts: append(append(n.store.PersonalParts(), n.fanout.Parts()...), personal.Part{
				Name: "export_files", What: "the files of exports", Places: []string{"file exports"}, Without: "an export does not contain itself",
			})},
		)
	}
	items := a.works()
	return append(list,
		personal.Source{Erase: items.Erase, Parts: []personal.Part{{
			Name: "items", What: "an item that has your id as author_id", Places: []string{"catalog items", "elasticsearch <index>", "redis feed:item:"},
			Export: func(ctx context.Context, agent string, put func(line any) error) error {
				return items.Each(ctx, agent, func(doc feed.Doc) error { return put(doc.JSON) })
			},
			Without: "items in an index that belongs to another system, which has them",
		}}},
		personal.Source{Erase: a.Engine.Forget, Parts: a.Engine.Personal().Parts()},
	)
}
