package backup

import (
	"context"
	"errors"
	"io"
	"path"

	"github.com/freshet/freshet/configs"
)

// WithSteps returns a context with which a backup or a restoration ends at the first step at which an error is
// returned, as if it was killed there.
func WithSteps(ctx context.Context, at func(step string) error) context.Context {
	return context.WithValue(ctx, stepKey{}, at)
}

// Refill puts the rows of PostgreSQL of a backup into a database again, in place of those that it has.
func Refill(ctx context.Context, cfg configs.Config, dir string) error {
	m, from, err := forConfig(ctx, cfg, directory(dir), Options{})
	if err != nil {
		return err
	}
	r := &restoring{cfg: cfg, files: from, folder: m.ID + "/", m: m}
	return r.postgres(ctx, m.part(socialPart))
}

// PartOf returns a part of a backup.
func (m *Manifest) PartOf(name string) *Part { return m.part(name) }

// Names returns the names of all files in the place of a backup, as they are stored.
func Names(ctx context.Context, address string) (names []string, err error) {
	at, err := placeOf(address)
	if err != nil {
		return nil, err
	}
	err = at.each(ctx, "", true, func(name string, _ int64) error { names = append(names, name); return nil })
	return names, err
}

// ReadFile returns a file in the place of a backup, as it is stored.
func ReadFile(ctx context.Context, address, name string) ([]byte, error) {
	at, err := placeOf(address)
	if err != nil {
		return nil, err
	}
	in, err := at.open(ctx, name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(in)
	return data, errors.Join(err, in.Close())
}

// WriteFile replaces a file in the place of a backup; nil removes it.
func WriteFile(ctx context.Context, address, name string, data []byte) error {
	at, err := placeOf(address)
	if err != nil {
		return err
	}
	if data == nil {
		return at.remove(ctx, name)
	}
	folder, base := path.Split(name)
	return replace(ctx, at, folder, base, data)
}
