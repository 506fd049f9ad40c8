package esindex

import "github.com/freshet/freshet/feed"

// MoreFields are the fields of live popularity of one of the half-lives of [feed.HalfLives]. They have the
// same names in every index, and exist only if a setting names the half-life.
type MoreFields struct {
	Sum, Epoch, Count string
}

// MoreFieldsOf returns the fields of a half-life.
func MoreFieldsOf(h feed.HalfLife) MoreFields {
	return MoreFields{"freshet_sum_" + h.Name, "freshet_epoch_" + h.Name, "freshet_count_" + h.Name}
}

// AllMoreFields lists the names of these fields of all half-lives.
var AllMoreFields = func() (names []string) {
	for h := range feed.AllHalfLives.All() {
		f := MoreFieldsOf(h)
		names = append(names, f.Sum, f.Epoch, f.Count)
	}
	return names
}()

// more determines the half-lives of which all fields are usable.
func (in *inspection) more() {
	if !in.schema.Acts {
		return
	}
	for h := range feed.AllHalfLives.All() {
		f, usable := MoreFieldsOf(h), true
		without := "the live popularity of " + h.Name + " is off"
		sum, epoch := need{isSum, "a double with doc_values", without}, need{isEpoch, "a keyword or long, indexed and with doc_values", without}
		for _, one := range []struct {
			name string
			need need
		}{{f.Sum, sum}, {f.Epoch, epoch}, {f.Count, sum}} {
			at := one.name
			has := in.needs(one.name, one.name, &at, one.need)
			usable = usable && has && at == one.name
		}
		if usable {
			in.schema.More |= 1 << h.Index
		}
	}
}
