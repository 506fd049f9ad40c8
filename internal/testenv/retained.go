package testenv

import "runtime"

// Retained runs fill and returns the increase of heap in use, in bytes: the data that fill has
// stored somewhere, and everything reachable from it. The caller must keep the measured data alive,
// and run nothing else at the same time.
func Retained(fill func()) int64 {
	before := inUse()
	fill()
	return inUse() - before
}

func inUse() int64 {
	runtime.GC()
	runtime.GC() // the second one frees the contents of pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
