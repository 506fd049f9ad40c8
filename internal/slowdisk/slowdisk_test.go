package slowdisk

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestSlowCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Commits
		run := func(d time.Duration) { assert.NoError(t, c.Run(func() error { time.Sleep(d); return nil })) }
		late := errors.New("too late")
		run(400 * time.Millisecond)
		assert.Zero(t, c.Slow())
		assert.Equal(t, late, c.Explain(late, "the disk of data_dir"))
		go run(3 * time.Second)
		time.Sleep(time.Second)
		assert.Equal(t, time.Second, c.Slow(), "it has not ended")
		time.Sleep(3 * time.Second)
		assert.Equal(t, 3*time.Second, c.Slow())
		assert.EqualError(t, c.Explain(late, "the disk of data_dir"), "the disk of data_dir took 3s to store a commit: it is slow or overloaded: too late")
		assert.ErrorIs(t, c.Explain(late, ""), late)
		assert.NoError(t, c.Explain(nil, ""))
		time.Sleep(3 * time.Minute)
		assert.Zero(t, c.Slow())
	})
}
