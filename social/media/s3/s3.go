// Package s3 is a [media.Store] in a bucket of Amazon S3 or of an S3-compatible store. Backups use its objects,
// too (objects.go).
package s3

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social/media"
)

// tries is the maximum number of attempts of a request with retryable errors.
const tries = 3

// Store stores each file as an object. It is safe for concurrent use.
type Store struct {
	client    minio.Core
	transport *http.Transport
	bucket    string
	prefix    string // of all object names
	host      string // with the bucket before that of a store other than Amazon's; "" without
}

var _ media.Store = (*Store)(nil)

// Open opens the bucket at an address s3://bucket?region=…, without a request. The parameters are
//
//   - region: defaults to AWS_REGION or AWS_DEFAULT_REGION of the environment; required for
//     Amazon
//   - endpoint: the URL of a store other than Amazon's
//   - use_path_style: true if the bucket is in the path of requests, not in the host name
//   - prefix: the prefix of all object names
//   - machine_role: true to use the credentials of the machine's role, see [credentialsOf]
//   - anonymous: true to send no credentials
//
// Errors say which parameter is wrong.
func Open(at *url.URL) (*Store, error) {
	a, err := parse(at)
	if err != nil {
		return nil, err
	}
	creds, err := credentialsOf(a)
	if err != nil {
		return nil, err
	}
	transport, err := minio.DefaultTransport(a.secure)
	if err != nil {
		return nil, err
	}
	client, err := minio.New(a.host, &minio.Options{
		Creds: creds, Secure: a.secure, Transport: transport,
		Region: a.region, BucketLookup: a.lookup, MaxRetries: tries,
	})
	if err != nil {
		return nil, err
	}
	client.SetS3EnableDualstack(false) // endpoints in a private network may have no dual-stack names
	return &Store{minio.Core{Client: client}, transport, at.Host, a.prefix, a.hostOf(at.Host)}, nil
}

// Put implements [media.Store].
func (s *Store) Put(ctx context.Context, key string, f media.File) error {
	_, err := s.client.Client.PutObject(ctx, s.bucket, s.prefix+key, bytes.NewReader(f.Data), int64(len(f.Data)),
		minio.PutObjectOptions{ContentType: f.Type, DisableMultipart: true, SendContentMd5: true})
	return s.explained(err)
}

// Open implements [media.Store].
func (s *Store) Open(ctx context.Context, key string) (media.Reader, error) {
	r, err := s.open(ctx, key)
	if err != nil {
		return nil, err // not a reader that is nil
	}
	return r, nil
}

func (s *Store) open(ctx context.Context, key string) (*reader, error) {
	body, info, _, err := s.client.GetObject(ctx, s.bucket, s.prefix+key, minio.GetObjectOptions{})
	if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
		return nil, fmt.Errorf("no such image file: %w: %w", feed.ErrNotFound, err)
	}
	if err != nil {
		return nil, s.explained(err)
	}
	return &reader{
		ctx: ctx, body: body, size: info.Size, kind: info.ContentType, etag: info.ETag,
		from: func(at int64) (io.ReadCloser, error) {
			var part minio.GetObjectOptions
			if info.ETag != "" {
				_ = part.SetMatchETag(info.ETag) // fails only if it is empty
			}
			if err := part.SetRange(at, info.Size-1); err != nil {
				return nil, err
			}
			body, _, _, err := s.client.GetObject(ctx, s.bucket, s.prefix+key, part)
			return body, s.explained(err)
		},
	}, nil
}

// Delete implements [media.Store]. S3 does not report whether the object existed.
func (s *Store) Delete(ctx context.Context, key string) error {
	return s.explained(s.client.RemoveObject(ctx, s.bucket, s.prefix+key, minio.RemoveObjectOptions{}))
}

// Keys implements [media.Store].
func (s *Store) Keys(ctx context.Context, most int) (keys []string, err error) {
	listing, cancel := context.WithCancel(ctx)
	defer cancel()
	options := minio.ListObjectsOptions{Prefix: s.prefix, Recursive: true, MaxKeys: min(most, 1000)}
	for object := range s.client.ListObjectsIter(listing, s.bucket, options) {
		if object.Err != nil {
			return nil, s.explained(object.Err)
		}
		keys = append(keys, strings.TrimPrefix(object.Key, s.prefix))
		if len(keys) == most {
			break
		}
	}
	return keys, ctx.Err() // the iterator ends without an error when ctx does
}

// Close implements [media.Store].
func (s *Store) Close() error {
	s.transport.CloseIdleConnections()
	return nil
}
