//go:build !linux && !darwin

package doctor

// roomAt returns nothing: the room is not known here.
func roomAt(string) (room, error) { return room{}, nil }
