package cli

import (
	"cmp"
	"io"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/feed/api"
)

// WriteConfigChanges writes a line for each setting whose value in force differs from the loaded one.
// live says what is true of those without need of a restart; none is written if there are no changes.
func WriteConfigChanges(w io.Writer, changes []client.ConfigChange, live, none string, width int) error {
	if len(changes) == 0 {
		_, err := io.WriteString(w, none+"\n")
		return err
	}
	t := newTable("wttw", "setting", "in force", "loaded", "")
	for _, c := range changes {
		state := "needs a restart"
		if c.Effect == api.AtReload {
			state = live
		}
		if c.Unset {
			state += "; not set any more"
		}
		t.add(c.Key, cmp.Or(c.InForce, `""`), cmp.Or(c.Loaded, `""`), state)
	}
	return t.write(w, width, "")
}
