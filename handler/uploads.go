package handler

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/freshet/freshet/feed"
)

const (
	// imageUploads is how many posts with images are received and made at once. Most
	// of them wait for their clients.
	imageUploads = 64
	// agentUploads is how many of them are one agent's, so that nobody alone can keep
	// others from posting.
	agentUploads = 2
	// uploadMemory is how many bytes their images take together, as they are sent and
	// as they are made, without what decoding takes.
	uploadMemory = 8 * MaxImagesBody
)

// imageUploading limits the posts with images that are under way. Like a gate it lets
// nobody wait.
type imageUploading struct {
	shed   prometheus.Counter // rejected calls
	mu     sync.Mutex
	all    int
	agents map[string]int
	bytes  int64
}

// imageUpload is one post with images. It is used by one goroutine.
type imageUpload struct {
	in    *imageUploading
	agent string
	bytes int64
}

// enter begins one. After a success the caller must call leave.
func (u *imageUploading) enter(agent string) (*imageUpload, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.agents[agent] >= agentUploads:
		u.shed.Inc()
		return nil, feed.Errorf(feed.ErrTooMany, "too many uploads: %d of this agent's posts with images are under way; wait for one of them", agentUploads)
	case u.all >= imageUploads:
		u.shed.Inc()
		return nil, feed.ErrBusy
	}
	if u.agents == nil {
		u.agents = map[string]int{}
	}
	u.all++
	u.agents[agent]++
	return &imageUpload{in: u, agent: agent}, nil
}

// hold takes so many bytes, or gives back as many as n is below 0. It fails where
// there is no room.
func (u *imageUpload) hold(n int) error {
	u.in.mu.Lock()
	defer u.in.mu.Unlock()
	if n > 0 && u.in.bytes+int64(n) > uploadMemory {
		u.in.shed.Inc()
		return feed.ErrBusy
	}
	u.in.bytes += int64(n)
	u.bytes += int64(n)
	return nil
}

func (u *imageUpload) leave() {
	u.in.mu.Lock()
	defer u.in.mu.Unlock()
	u.in.bytes -= u.bytes
	u.in.all--
	if u.in.agents[u.agent]--; u.in.agents[u.agent] == 0 {
		delete(u.in.agents, u.agent)
	}
}
