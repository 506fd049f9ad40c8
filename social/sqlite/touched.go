package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// touched is something of which a transaction changed what a [memo] holds.
type touched struct {
	kind int
	key  string
}

// The kinds.
const (
	touchedPost   = iota + 1 // by id
	touchedAuthor            // by id
	touchedReader            // by agent: what they have to do with authors and circles
	touchedLikes             // by agent
)

// watched tells, by table, which changes touch what: @ stands for the row, and UPDATE OF
// the columns for UPDATE, where not every one matters.
var watched = []struct{ table, columns, touches string }{
	{"posts", "", "VALUES (1, @.id)"},
	{"post_circles", "", "VALUES (1, @.post)"},
	{"post_mentions", "", "VALUES (1, @.post)"},
	{"authors", "OF name, image_url, erased", "VALUES (2, @.id)"},
	{"follows", "", "VALUES (3, @.agent)"},
	{"blocks", "", "VALUES (3, @.agent), (3, @.other)"},
	{"members", "", "VALUES (3, @.agent)"},
	{"circles", "OF owner, gone", "SELECT 3, agent FROM members WHERE circle = @.id"},
	{"likes", "", "VALUES (4, @.agent)"},
}

// watch has the writer note what its transactions touch, in a table of its own that is
// never in the file, and tell a new memo. Triggers do it, so that no statement can be
// forgotten.
func (w *writer) watch(ctx context.Context) error {
	var text strings.Builder
	text.WriteString("PRAGMA temp_store = MEMORY; CREATE TEMP TABLE touched (kind INTEGER, key TEXT);\n")
	for _, on := range watched {
		for event, row := range map[string]string{"INSERT": "NEW", "UPDATE " + on.columns: "NEW", "DELETE": "OLD"} {
			fmt.Fprintf(&text, "CREATE TEMP TRIGGER touched_%s_%.6s AFTER %s ON main.%s BEGIN INSERT INTO touched %s; END;\n",
				on.table, event, event, on.table, strings.ReplaceAll(on.touches, "@", row))
		}
	}
	if _, err := w.conn.ExecContext(ctx, text.String()); err != nil {
		return err
	}
	w.memo = newMemo()
	return nil
}

// touched takes what the transaction under way has touched.
func (q querying) touched() (all []touched, err error) {
	err = q.each(func(rows *sql.Rows) error {
		var t touched
		err := rows.Scan(&t.kind, &t.key)
		all = append(all, t)
		return err
	}, `SELECT DISTINCT kind, key FROM temp.touched`)
	if err == nil && len(all) > 0 {
		_, err = q.exec(`DELETE FROM temp.touched`)
	}
	return all, err
}
