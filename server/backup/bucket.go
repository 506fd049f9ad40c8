package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"strings"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social/media/s3"
)

// bucket is a [place] in S3.
type bucket struct {
	lease
	store    *s3.Store
	name     string // s3://BUCKET/PREFIX
	at       *url.URL
	prefix   string // of its objects
	endpoint string
}

const addressForm = "the address must be s3://BUCKET/PREFIX?region=…, with the parameters of media.url, in quotes"

func openBucket(address string) (*bucket, error) {
	at, err := url.Parse(address)
	if err != nil || at.Host == "" || at.User != nil || at.Fragment != "" {
		return nil, errors.New(addressForm + "; credentials are taken from the environment") // without the address, which may have some
	}
	q := at.Query()
	prefix := strings.Trim(at.Path, "/")
	switch {
	case prefix == "":
		prefix = strings.Trim(q.Get("prefix"), "/")
	case q.Has("prefix"):
		return nil, errors.New(addressForm + "; leave the parameter prefix out")
	}
	if prefix != "" {
		if !fs.ValidPath(prefix) {
			return nil, fmt.Errorf("%s; the prefix %q has parts that are empty or dots", addressForm, prefix)
		}
		prefix += "/"
	}
	b := &bucket{at: at, prefix: prefix, name: "s3://" + at.Host + "/" + prefix, endpoint: endpointOf(at)}
	q.Set("prefix", prefix)
	b.store, err = s3.Open(&url.URL{Scheme: at.Scheme, Host: at.Host, RawQuery: q.Encode()})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.name, err)
	}
	b.lease = lease{store: b.store, place: strings.TrimSuffix(b.name, "/")}
	return b, nil
}

// endpointOf returns the host of the store of an address.
func endpointOf(at *url.URL) string {
	u, err := url.Parse(at.Query().Get("endpoint"))
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

func (b *bucket) apart(cfg configs.Config) error {
	u, err := url.Parse(cfg.Media.URL)
	if err != nil || u.Scheme != "s3" || u.Host != b.at.Host || endpointOf(u) != b.endpoint {
		return nil
	}
	theirs := u.Query().Get("prefix")
	switch {
	case strings.HasPrefix(b.prefix, theirs):
		return fmt.Errorf("%s is where media.url has the images of posts, and its objects would count as such; name another bucket, or set the parameter prefix of media.url", b.name)
	case strings.HasPrefix(theirs, b.prefix):
		return fmt.Errorf("the images of media.url are within %s; name a prefix that has nothing but backups", b.name)
	}
	return nil
}

func (b *bucket) claim(ctx context.Context, tell func(text string)) (held context.Context, release func() error, err error) {
	_, etag, err := b.read(ctx)
	if err == nil && etag == "" {
		err = onlyOurs(ctx, b)
	}
	if err == nil {
		held, release, err = b.take(ctx, tell)
	}
	if err != nil {
		return nil, nil, err
	}
	if err := b.store.RemoveUnfinished(ctx, ""); err != nil {
		return nil, nil, errors.Join(err, release())
	}
	return held, release, nil
}

func (b *bucket) create(ctx context.Context, name string) (upload, error) {
	return b.store.Create(ctx, name), nil
}

func (b *bucket) open(ctx context.Context, name string) (io.ReadCloser, error) {
	in, err := b.store.Open(ctx, name)
	if errors.Is(err, feed.ErrNotFound) {
		return nil, &fs.PathError{Op: "open", Path: b.shown(name), Err: fs.ErrNotExist}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.shown(name), err)
	}
	return in, nil
}

func (b *bucket) each(ctx context.Context, folder string, deep bool, do func(name string, size int64) error) error {
	return b.store.Each(ctx, folder, deep, do)
}

func (b *bucket) remove(ctx context.Context, name string) error {
	if !strings.HasSuffix(name, "/") {
		return b.store.Delete(ctx, name)
	}
	return b.store.Each(ctx, name, true, func(below string, _ int64) error { return b.store.Delete(ctx, name+below) })
}

func (b *bucket) sync(string, bool) error { return nil } // an object is durable when it is there

func (b *bucket) path(string) string { return "" }

func (b *bucket) shown(name string) string { return strings.TrimSuffix(b.name+name, "/") }
