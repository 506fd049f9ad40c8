package redislist

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/internal/rediskeys"
)

// undoTimeout bounds giving back a page that replicas did not confirm.
const undoTimeout = time.Second

// confirmed reads what a page script replied. A page that too few replicas
// have is not handed out: after a failover it could be handed out again. The
// error wraps [cache.ErrUnavailable].
//
// What becomes of it depends on who can still get it. Under a request id it
// stays taken, and the retry is answered with it as soon as replicas have it;
// giving it back could cross with that retry's answer. Without one no call will
// ask for it, so it goes back to the head of the session.
func (s *Sessions) confirmed(ctx context.Context, step, agent string, cmd *redis.Cmd, call cache.Call) (cache.Page, error) {
	short := cmd.Err()
	if !errors.Is(short, rediskeys.ErrReplicas) {
		return answer(step, cmd, call)
	}
	if call.RequestID != "" {
		return cache.Page{}, contractError(step, short)
	}
	cmd.SetErr(nil)
	page, err := answer(step, cmd, call)
	if err != nil || len(page.Refs) == 0 {
		return cache.Page{}, errors.Join(contractError(step, short), err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	if err := s.Restore(ctx, agent, page.Refs, call); err != nil {
		s.cfg.Logger.WarnContext(ctx, "a page that too few replicas have could not be returned to its session; its items count as shown",
			"agent", agent, "items", len(page.Refs), "error", err)
	}
	return cache.Page{}, contractError(step, short)
}

// lookupScript reads a record so that waiting for replicas covers it.
//
//	KEYS[1]  the call's record
//	ARGV[1]  action and limit of the call
//	ARGV[2]  owner of the call
//	reply    {"old", the record}, or nil
var lookupScript = redis.NewScript(recordLua + touchLua + answerLua + `return recorded(KEYS[1], ARGV[1], ARGV[2], '0')`)
