package esindex

import "slices"

// live finds whether live popularity can be kept. Where one field of the four
// cannot be used none is.
func (in *inspection) live() {
	names, source := &in.schema.Fields, &in.schema.Source
	found := 0
	for _, one := range []struct {
		field, name string
		source      *string
		usable      func(property) bool
		needed      string
	}{
		{"sum_2h", names.Sum2h, &source.Sum2h, isSum, "a double with doc_values"},
		{"epoch_2h", names.Epoch2h, &source.Epoch2h, isEpoch, "a keyword or long, indexed and with doc_values"},
		{"sum_2d", names.Sum2d, &source.Sum2d, isSum, "a double with doc_values"},
		{"epoch_2d", names.Epoch2d, &source.Epoch2d, isEpoch, "a keyword or long, indexed and with doc_values"},
	} {
		switch f, ok := in.find(one.name, one.source); {
		case !ok: // an index of somebody else's need not have it
		case one.usable(f):
			found++
		default:
			in.problem(one.field, one.name, false, "it is a field of type %s; %s is needed: live popularity is off", f.Type, one.needed)
		}
	}
	in.schema.Live = found == 4
}

// isSum asks for a double: a float cannot hold a sum at the end of its epoch.
func isSum(f property) bool { return f.Type == "double" && f.docValues() }

func isEpoch(f property) bool {
	return slices.Contains([]string{"keyword", "integer", "long"}, f.Type) && f.indexed() && f.docValues()
}
