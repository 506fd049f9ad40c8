package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/social"
)

// exporter passes what the store has of one kind about an agent to put, a value for each line. It reads page by
// page, and shows the agent no more than the API does.
type exporter func(ctx context.Context, s *Store, agent string, put func(any) error) error

// exportPage is how many lines of an export are read at once.
const exportPage = 200

// rows exports the rows of a statement with the parameters agent, key of the row before, and number of rows. The
// first column is the key of the row. The names of the columns are those of the fields, "" for none; numbers end
// in #. Empty fields are left out.
func rows(text string, columns ...string) exporter {
	return func(ctx context.Context, s *Store, agent string, put func(any) error) error {
		type line struct {
			key    string
			fields map[string]any
		}
		return inPages(func(after string, n int) (list []line, err error) {
			err = s.read(ctx, func(q *Query) {
				list = nil
				q.each(func(scan Scan) error {
					key, fields, err := scanFields(scan, columns)
					list = append(list, line{key, fields})
					return err
				}, text, agent, after, n)
			})
			return list, s.failed(ctx, "export", err)
		}, func(l line) string { return l.key }, func(l line) error { return put(l.fields) })
	}
}

func scanFields(scan Scan, columns []string) (key string, fields map[string]any, err error) {
	texts, numbers := make([]string, len(columns)), make([]int64, len(columns))
	into := make([]any, len(columns))
	for i, name := range columns {
		into[i] = &texts[i]
		if strings.HasSuffix(name, "#") {
			into[i] = &numbers[i]
		}
	}
	err = scan(into...)
	fields = map[string]any{}
	for i, name := range columns {
		switch {
		case numbers[i] != 0:
			fields[strings.TrimSuffix(name, "#")] = numbers[i]
		case texts[i] != "" && name != "":
			fields[name] = texts[i]
		}
	}
	return texts[0], fields, err
}

// inPages passes all entries of a list that is read in pages, after the key of the last entry, to put.
func inPages[T any](read func(after string, n int) ([]T, error), key func(T) string, put func(T) error) error {
	for after := ""; ; {
		list, err := read(after, exportPage)
		if err != nil {
			return err
		}
		for _, one := range list {
			if err := put(one); err != nil {
				return err
			}
		}
		if len(list) < exportPage {
			return nil
		}
		after = key(list[exportPage-1])
	}
}

func itself(id string) string { return id }

// exportedCard is the card of an agent, with the choices as the API has them, and the suspension.
type exportedCard struct {
	ID                 string `json:"id"`
	Name               string `json:"name,omitempty"`
	ImageURL           string `json:"image_url,omitempty"`
	Bio                string `json:"bio,omitempty"`
	SuggestFromFollows *bool  `json:"suggest_from_follows,omitempty"`
	Recommend          *bool  `json:"recommend,omitempty"`
	SuspendedUntil     int64  `json:"suspended_until,omitempty"`
	SuspendedFor       string `json:"suspended_for,omitempty"`
}

// cardText selects the card of the agent $1, if there is anything in it.
const cardText = `SELECT id, name, image_url, bio, suggest_from_follows, not_recommended, suspended_until / 1000000, suspended_for FROM authors
	WHERE id = $1 AND (has_card OR suspended_until > 0 OR not_recommended OR suggest_from_follows <> 0)`

func exportCard(ctx context.Context, s *Store, agent string, put func(any) error) error {
	var card exportedCard
	var suggest int
	var refuses, found bool
	err := s.read(ctx, func(q *Query) {
		found = q.row(into(&card.ID, &card.Name, &card.ImageURL, &card.Bio, &suggest, &refuses, &card.SuspendedUntil, &card.SuspendedFor), cardText, agent)
	})
	if err != nil || !found {
		return s.failed(ctx, "export the card", err)
	}
	card.SuggestFromFollows, card.Recommend = chosen(suggest), recommendation(refuses)
	return put(card)
}

// exportPosts exports the posts of an agent, or the replies.
func exportPosts(replies bool) exporter {
	return func(ctx context.Context, s *Store, agent string, put func(any) error) error {
		for below := (social.Position{}); ; {
			list, err := s.Grid(ctx, agent, agent, below, exportPage)
			if err != nil {
				return err
			}
			cards, err := s.Cards(ctx, agent, convert.Each(list, func(e social.Entry) social.PostVersion { return social.PostVersion{ID: e.ID} }))
			if err != nil {
				return err
			}
			for i := range cards {
				if !cards[i].Readable() || (cards[i].Root != "") != replies {
					continue
				}
				if err := put(json.RawMessage(cards[i].AppendEntry(nil, agent, ""))); err != nil {
					return err
				}
			}
			if len(list) < exportPage {
				return nil
			}
			below = list[exportPage-1].Position
		}
	}
}

// exportImages exports the keys of the images of an agent's posts, and of the card.
func exportImages(ctx context.Context, s *Store, agent string, put func(any) error) error {
	avatar, err := s.avatar(ctx, agent)
	if err == nil && avatar != "" {
		err = put(social.ExportedImage{Image: avatar})
	}
	if err != nil {
		return err
	}
	return inPages(func(after string, n int) (list []social.ExportedImage, err error) {
		err = s.read(ctx, func(q *Query) {
			list = rowsOf(q, func(f *social.ExportedImage) []any { return into(&f.Image, &f.Post) },
				`SELECT f.key, f.post FROM posts p JOIN files f ON f.post = p.id WHERE p.author = $1 AND p.gone = 0
					AND p.created > coalesce((SELECT e.erased FROM authors e WHERE e.id = $1), 0) AND f.state = $4 AND f.key > $2 ORDER BY f.key LIMIT $3`,
				agent, after, n, social.FileUsed)
		})
		return list, s.failed(ctx, "export images", err)
	}, func(f social.ExportedImage) string { return f.Image }, func(f social.ExportedImage) error { return put(f) })
}

// avatar returns the key of the image of an agent's card, "" if the agent has not uploaded it.
func (s *Store) avatar(ctx context.Context, agent string) (key string, err error) {
	err = s.read(ctx, func(q *Query) {
		var image string
		q.row(into(&image), `SELECT image_url FROM authors WHERE id = $1`, agent)
		owner := social.AvatarOwner(agent, social.AvatarKey(image))
		q.row(into(&key), `SELECT key FROM files WHERE post = $1 AND state = $2`, owner, social.FileUsed)
	})
	return key, s.failed(ctx, "export images", err)
}

func exportFollowers(ctx context.Context, s *Store, agent string, put func(any) error) error {
	return inPages(func(after string, n int) ([]string, error) { return s.Followers(ctx, agent, agent, after, n) },
		itself, func(id string) error { return put(map[string]string{"agent": id}) })
}

func exportFollowing(ctx context.Context, s *Store, agent string, put func(any) error) error {
	return inPages(func(after string, n int) ([]string, error) { return s.Following(ctx, agent, agent, after, n) },
		itself, func(id string) error { return put(map[string]string{"author": id}) })
}

// exportCirclesAs exports the circles in which the agent has a role.
func exportCirclesAs(ctx context.Context, s *Store, agent string, role social.Role, put func(social.Circle) error) error {
	return inPages(func(after string, n int) ([]social.Circle, error) { return s.CirclesOf(ctx, agent, role, after, n) },
		func(c social.Circle) string { return c.ID }, put)
}

func exportCircles(ctx context.Context, s *Store, agent string, put func(any) error) error {
	return exportCirclesAs(ctx, s, agent, social.RoleOwner, func(c social.Circle) error { return put(c) })
}

func exportGroups(ctx context.Context, s *Store, agent string, put func(any) error) error {
	return exportCirclesAs(ctx, s, agent, social.RoleMember, func(c social.Circle) error { return put(c) })
}

// exportOfCircles exports lists of agents of the circles that the agent owns.
func exportOfCircles(ctx context.Context, s *Store, agent string, put func(any) error,
	read func(ctx context.Context, circle, by, after string, n int) ([]string, error),
) error {
	return exportCirclesAs(ctx, s, agent, social.RoleOwner, func(c social.Circle) error {
		err := inPages(func(after string, n int) ([]string, error) { return read(ctx, c.ID, agent, after, n) },
			itself, func(id string) error { return put(map[string]string{"circle": c.ID, "agent": id}) })
		if errors.Is(err, feed.ErrNotFound) || errors.Is(err, feed.ErrForbidden) { // it has ended, or passed to another meanwhile
			return nil
		}
		return err
	})
}

func exportMembers(ctx context.Context, s *Store, agent string, put func(any) error) error {
	return exportOfCircles(ctx, s, agent, put, s.Members)
}

func exportInvited(ctx context.Context, s *Store, agent string, put func(any) error) error {
	return exportOfCircles(ctx, s, agent, put, s.Invited)
}

func exportLikes(ctx context.Context, s *Store, agent string, put func(any) error) error {
	for below := (social.Position{}); ; {
		list, err := s.Liked(ctx, agent, below, exportPage)
		if err != nil {
			return err
		}
		for _, like := range list {
			if err := put(map[string]any{"post": like.ID, "at": like.At / 1e6}); err != nil {
				return err
			}
		}
		if len(list) < exportPage {
			return nil
		}
		below = list[exportPage-1].Position
	}
}

// exportMentions exports the ids of those posts that mention the agent which the agent may see.
func exportMentions(ctx context.Context, s *Store, agent string, put func(any) error) error {
	return inPages(func(after string, n int) (list []string, err error) {
		err = s.read(ctx, func(q *Query) {
			list = q.texts(`SELECT m.post FROM (SELECT post, agent, life FROM post_mentions UNION ALL SELECT reply, agent, life FROM reply_mentions) m
				WHERE m.agent = $1 AND m.post > $2 AND m.life = `+erasedAgent("$1")+` ORDER BY m.post LIMIT $3`, agent, after, n)
		})
		return list, s.failed(ctx, "export mentions", err)
	}, itself, func(id string) error {
		cards, err := s.Cards(ctx, agent, []social.PostVersion{{ID: id}})
		if err != nil || !cards[0].Visible {
			return err
		}
		return put(map[string]any{"post": id, "author": cards[0].Author.ID, "at": cards[0].CreatedAt})
	})
}

func exportNotifications(ctx context.Context, s *Store, agent string, put func(any) error) error {
	box, err := s.Notifications(ctx, agent)
	if errors.Is(err, feed.ErrForbidden) { // none are kept
		return nil
	}
	if err != nil {
		return err
	}
	for _, n := range box.List {
		line := map[string]any{"kind": n.Kind, "actor": n.Actor.ID, "at": n.At / 1e6, "seen": n.Number <= box.Seen}
		for name, id := range map[string]string{"post": n.Post, "reply": n.Reply, "circle": n.Circle.ID} {
			if id != "" {
				line[name] = id
			}
		}
		if err := put(line); err != nil {
			return err
		}
	}
	return nil
}
