package sqlitefile

import (
	"sync"
	"time"

	"github.com/freshet/freshet/internal/slowdisk"
)

// Disk is the name of the disk of embedded mode's files.
const Disk = "the disk of data_dir"

// commits has the [slowdisk.Commits] of each open file, by its path and by its Writer.
var commits sync.Map

// unobserved observes the commits of a database that was not opened by [Schema.Open].
var unobserved slowdisk.Commits

// CommitsOf returns the observer of the commits of an open file, by its path or its Writer.
func CommitsOf(file any) *slowdisk.Commits {
	if c, ok := commits.Load(file); ok {
		return c.(*slowdisk.Commits)
	}
	return &unobserved
}

// SlowCommit returns how long the slowest commit took that was slow a short time ago, in the open files
// at these paths; 0 if there was none.
func SlowCommit(paths []string) (took time.Duration) {
	for _, path := range paths {
		took = max(took, CommitsOf(path).Slow())
	}
	return took
}

// observe begins to observe the commits of the Writer and the damage of the file, under the path. The
// result ends it.
func (f *File) observe(path string) (end func()) {
	c := &slowdisk.Commits{}
	commits.Store(path, c)
	commits.Store(f.Writer, c)
	opened.Store(path, f)
	writer := f.Writer
	return func() {
		commits.Delete(writer)
		commits.CompareAndDelete(path, c) // the file may have been opened again
		opened.CompareAndDelete(path, f)
	}
}
