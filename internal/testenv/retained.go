package testenv

import "runtime"

// Retained runs fill and tells how many more bytes of heap are in use after it:
// what fill has stored somewhere, and all that this keeps alive. The caller
// keeps what it measures alive, and runs nothing else at the same time.
func Retained(fill func()) int64 {
	before := inUse()
	fill()
	return inUse() - before
}

func inUse() int64 {
	runtime.GC()
	runtime.GC() // the second frees what pools held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
