package backup

import (
	"context"
	"path/filepath"

	"github.com/freshet/freshet/configs"
)

// WithSteps returns a context with which a backup or a restoration ends at the first step at which an error is
// returned, as if it was killed there.
func WithSteps(ctx context.Context, at func(step string) error) context.Context {
	return context.WithValue(ctx, stepKey{}, at)
}

// Refill puts the rows of PostgreSQL of a backup into a database again, in place of those that it has.
func Refill(ctx context.Context, cfg configs.Config, dir string) error {
	m, err := ReadManifest(dir)
	if err != nil {
		return err
	}
	r := &restoring{cfg: cfg, dir: dir, folder: filepath.Join(dir, m.ID), m: m}
	return r.postgres(ctx, m.part(socialPart))
}

// PartOf returns a part of a backup.
func (m *Manifest) PartOf(name string) *Part { return m.part(name) }
