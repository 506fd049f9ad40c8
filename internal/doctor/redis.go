package doctor

import (
	"cmp"
	"context"
	"strings"

	"github.com/freshet/freshet/dedup/redisbloom"
	"github.com/freshet/freshet/internal/agreement"
	"github.com/freshet/freshet/internal/connect"
)

func (d *doctor) lookAtRedis(ctx context.Context) {
	const what = "redis"
	client, err := connect.Redis(ctx, d.cfg)
	if err != nil {
		d.say(Broken, what, "see the message", "redis.url: %v", err)
		return
	}
	defer func() { _ = client.Close() }()
	sent := d.clock()
	now, err := client.Time(ctx).Result()
	if err != nil {
		d.say(Broken, what, "start Redis, or correct redis.url and redis.password", "%s: %v", strings.Join(d.cfg.Redis.Server().Addrs, ", "), err)
		return
	}
	d.skew(what, sent, now)
	info, _ := connect.Info(ctx, client, "server") // an ACL user may not be allowed to ask
	d.say(OK, what, "", "%s answers, version %s", strings.Join(d.cfg.Redis.Server().Addrs, ", "), cmp.Or(info["redis_version"], "unknown"))
	d.lookAtMasters(ctx, client)
	d.lookAtAgreement(ctx, what, agreement.InRedis(client, d.cfg.Redis.KeyPrefix))
	store, err := redisbloom.New(client, connect.Dedup(d.cfg), redisbloom.Config{KeyPrefix: d.cfg.Redis.KeyPrefix})
	if err == nil {
		err = store.Verify(ctx)
	}
	if err != nil {
		d.say(Broken, "redis bloom", "load the RedisBloom module, or use Redis 8", "%v", err)
		return
	}
	d.say(OK, "redis bloom", "", "the Bloom filter type is there")
}
