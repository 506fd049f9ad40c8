package stores

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/redis/go-redis/v9"
)

// scanned is how many keys one call of SCAN looks at.
const scanned = 1000

// KeysWithoutTTL returns how many keys of a Redis never expire.
func KeysWithoutTTL(ctx context.Context, c redis.UniversalClient) (n int, err error) {
	var cursor uint64
	for {
		var keys []string
		keys, cursor, err = c.Scan(ctx, cursor, "", scanned).Result()
		if err != nil {
			return 0, err
		}
		replies, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, key := range keys {
				p.TTL(ctx, key)
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
		for _, reply := range replies {
			if reply.(*redis.DurationCmd).Val() == -1 { // -2 is a key that has gone meanwhile
				n++
			}
		}
		if cursor == 0 {
			return n, nil
		}
	}
}

// Tables returns the bytes of each table of the schema, with its indexes.
func (s *Schema) Tables(ctx context.Context) (map[string]int64, error) {
	sizes := map[string]int64{}
	err := s.rows(ctx, `SELECT c.relname, pg_total_relation_size(c.oid) FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = '`+s.name+`'::regnamespace`,
		func(scan func(...any) error) error {
			var name string
			var bytes int64
			err := scan(&name, &bytes)
			sizes[name] = bytes
			return err
		})
	return sizes, err
}

// Files returns the bytes of each file of the folders in a directory, and of each folder in them.
func Files(dir string) (map[string]int64, error) {
	sizes := map[string]int64{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // files come and go meanwhile
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // likewise
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		parts := strings.Split(name, string(filepath.Separator))
		sizes[filepath.Join(parts[:min(2, len(parts))]...)] += info.Size()
		return nil
	})
	return sizes, err
}
