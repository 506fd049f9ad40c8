package sqlite

import (
	"context"
	"fmt"
	"strings"

	"github.com/freshet/freshet/social/sqlstore"
)

// watch makes the writer record the keys that its transactions touch, in a temporary table that is
// never in the file. Triggers do so, so that no statement is missed.
func (w *writer) watch(ctx context.Context) error {
	var text strings.Builder
	text.WriteString("PRAGMA temp_store = MEMORY; CREATE TEMP TABLE touched (kind INTEGER, key TEXT);\n")
	for i, on := range sqlstore.Watched {
		for event, row := range map[string]string{"INSERT": "NEW", "UPDATE": "NEW", "DELETE": "OLD"} {
			of, when := "", ""
			switch {
			case event == "UPDATE" && len(on.Columns) > 0:
				of = " OF " + strings.Join(on.Columns, ", ")
				when = fmt.Sprintf(" WHEN (OLD.%s) IS NOT (NEW.%s)", strings.Join(on.Columns, ", OLD."), strings.Join(on.Columns, ", NEW."))
			case event != "UPDATE" && on.When != "":
				when = " WHEN " + strings.ReplaceAll(on.When, "@", row)
			}
			fmt.Fprintf(&text, "CREATE TEMP TRIGGER touched_%d_%s AFTER %s%s ON main.%s%s BEGIN INSERT INTO touched %s; END;\n",
				i, event, event, of, on.Table, when, strings.ReplaceAll(on.Touches, "@", row))
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
