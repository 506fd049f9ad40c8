package sqlite

import (
	"context"
	"fmt"
	"strings"

	"github.com/freshet/freshet/social/sqlstore"
)

// watched lists by table which changes touch which keys, by the kinds of [sqlstore.Touched]; @ is
// the row. If there are columns, an UPDATE only matters if it changes one of them.
var watched = []struct {
	table, touches string
	columns        []string
}{
	{"posts", "VALUES (1, @.id)", nil},
	{"post_circles", "VALUES (1, @.post)", nil},
	{"post_mentions", "VALUES (1, @.post)", nil},
	{"removals", "VALUES (1, @.post)", nil},
	{"authors", "VALUES (2, @.id), (3, @.id)", []string{"name", "image_url", "erased", "erased_agent"}},
	{"authors", "SELECT 5, '' WHERE @.erased_agent > 0 AND EXISTS (SELECT 1 FROM circles WHERE owner = @.id AND gone = 0)", []string{"erased_agent"}},
	{"follows", "VALUES (3, @.agent)", nil},
	{"blocks", "VALUES (3, @.agent), (3, @.other)", nil},
	{"members", "VALUES (3, @.agent)", nil},
	{"mutes", "VALUES (3, @.agent)", nil},
	{"circles", "VALUES (6, @.id)", []string{"owner", "name", "kind", "put", "gone", "dropped"}},
	{"likes", "VALUES (4, @.agent)", nil},
}

// watch makes the writer record the keys that its transactions touch, in a temporary table that is
// never in the file. Triggers do so, so that no statement is missed.
func (w *writer) watch(ctx context.Context) error {
	var text strings.Builder
	text.WriteString("PRAGMA temp_store = MEMORY; CREATE TEMP TABLE touched (kind INTEGER, key TEXT);\n")
	for i, on := range watched {
		for event, row := range map[string]string{"INSERT": "NEW", "UPDATE": "NEW", "DELETE": "OLD"} {
			of, when := "", ""
			if event == "UPDATE" && len(on.columns) > 0 {
				of = " OF " + strings.Join(on.columns, ", ")
				when = fmt.Sprintf(" WHEN (OLD.%s) IS NOT (NEW.%s)", strings.Join(on.columns, ", OLD."), strings.Join(on.columns, ", NEW."))
			}
			fmt.Fprintf(&text, "CREATE TEMP TRIGGER touched_%d_%s AFTER %s%s ON main.%s%s BEGIN INSERT INTO touched %s; END;\n",
				i, event, event, of, on.table, when, strings.ReplaceAll(on.touches, "@", row))
		}
	}
	_, err := w.conn.ExecContext(ctx, text.String())
	return err
}

// touched returns and clears the keys that the current transaction has touched.
func (q querying) touched() (all []sqlstore.Touched, err error) {
	err = q.Each(sqlstore.Reading{Statement: sqlstore.Statement{Text: `SELECT DISTINCT kind, key FROM temp.touched`}, Scan: func(scan sqlstore.Scan) error {
		var t sqlstore.Touched
		err := scan(&t.Kind, &t.Key)
		all = append(all, t)
		return err
	}})
	if err == nil && len(all) > 0 {
		_, err = q.Exec(`DELETE FROM temp.touched`)
	}
	return all, err
}
