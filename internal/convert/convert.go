// Package convert converts lists.
package convert

// Each applies of to each element of a list.
func Each[T, R any](list []T, of func(T) R) []R {
	out := make([]R, len(list))
	for i := range list {
		out[i] = of(list[i])
	}
	return out
}
