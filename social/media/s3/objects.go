package s3

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
)

// ErrChanged means that an object is not the one that the caller knows.
var ErrChanged = errors.New("the object was changed meanwhile")

// Each calls do with the name and the size of each object whose name begins with under, in the order of their
// names. Unless deep is set, those that have a further slash are one call, for all names up to that slash; the
// name ends with it, and the size is 0. Names are without under.
func (s *Store) Each(ctx context.Context, under string, deep bool, do func(name string, size int64) error) error {
	listing, cancel := context.WithCancel(ctx)
	defer cancel()
	for object := range s.client.ListObjectsIter(listing, s.bucket, minio.ListObjectsOptions{Prefix: s.prefix + under, Recursive: deep}) {
		if object.Err != nil {
			return explained(object.Err)
		}
		name := strings.TrimPrefix(object.Key, s.prefix+under)
		if name == "" { // a placeholder that consoles create for a folder
			continue
		}
		if err := do(name, object.Size); err != nil {
			return err
		}
	}
	return ctx.Err() // the iterator ends without an error when ctx does
}

// Get returns the content of a small object, and its ETag. The error is [feed.ErrNotFound] if there is none.
func (s *Store) Get(ctx context.Context, name string) (data []byte, etag string, err error) {
	in, err := s.open(ctx, name)
	if err != nil {
		return nil, "", err
	}
	data, err = io.ReadAll(in)
	return data, in.etag, errors.Join(err, in.Close())
}

// Swap stores a small object in place of the one with this ETag, or, if that is "", as the first of its name. It
// returns the new ETag, or [ErrChanged] if another object is there. Stores without conditional writes replace
// any object.
func (s *Store) Swap(ctx context.Context, name string, data []byte, etag string) (string, error) {
	put := func(o minio.PutObjectOptions) (string, error) {
		o.DisableMultipart, o.SendContentMd5 = true, true
		stored, err := s.client.Client.PutObject(ctx, s.bucket, s.prefix+name, bytes.NewReader(data), int64(len(data)), o)
		return stored.ETag, err
	}
	var o minio.PutObjectOptions
	if etag == "" {
		o.SetMatchETagExcept("*")
	} else {
		o.SetMatchETag(etag)
	}
	got, err := put(o)
	refused := minio.ToErrorResponse(err)
	switch {
	case refused.StatusCode == http.StatusPreconditionFailed, refused.StatusCode == http.StatusConflict, refused.Code == minio.NoSuchKey:
		return "", fmt.Errorf("%w: %w", ErrChanged, err)
	case refused.StatusCode == http.StatusNotImplemented:
		got, err = put(minio.PutObjectOptions{})
	}
	return got, explained(err)
}

const (
	// partBytes is the size of the parts in which a large object is sent, and the most that an [Upload] keeps.
	partBytes = 64 << 20
	// mostParts is the number of parts that an object may have.
	mostParts = 10_000
)

// Upload is an object that is being written. It is there once Finish has returned, whole.
type Upload struct {
	ctx   context.Context //nolint:containedctx // of the one upload
	store *Store
	name  string
	size  int // of a part
	rest  []byte
	id    string // of the upload in parts, "" before the first
	parts []minio.CompletePart
}

// Create begins an object of any size, which Finish puts in place of one that is there. It makes no request.
func (s *Store) Create(ctx context.Context, name string) *Upload {
	return &Upload{ctx: ctx, store: s, name: s.prefix + name, size: partBytes}
}

// Write implements [io.Writer].
func (u *Upload) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		if len(u.rest) == u.size {
			if err := u.part(); err != nil {
				return n, err
			}
		}
		some := min(len(p), u.size-len(u.rest))
		u.rest = append(u.rest, p[:some]...)
		n, p = n+some, p[some:]
	}
	return n, nil
}

// part sends what was written since the last part.
func (u *Upload) part() (err error) {
	s := u.store
	if len(u.parts) == mostParts {
		return fmt.Errorf("%s has more than %d GB, which is too much for one object", u.name, int64(mostParts)*int64(u.size)>>30)
	}
	if u.id == "" {
		u.id, err = s.client.NewMultipartUpload(u.ctx, s.bucket, u.name, minio.PutObjectOptions{})
		if err != nil {
			return explained(err)
		}
	}
	sum := md5.Sum(u.rest) // the store compares it
	sent, err := s.client.PutObjectPart(u.ctx, s.bucket, u.name, u.id, len(u.parts)+1, bytes.NewReader(u.rest), int64(len(u.rest)),
		minio.PutObjectPartOptions{Md5Base64: base64.StdEncoding.EncodeToString(sum[:])})
	if err != nil {
		return explained(err)
	}
	u.parts = append(u.parts, minio.CompletePart{PartNumber: sent.PartNumber, ETag: sent.ETag})
	u.rest = u.rest[:0]
	return nil
}

// Finish stores the object.
func (u *Upload) Finish() error {
	s := u.store
	if u.id == "" {
		_, err := s.client.Client.PutObject(u.ctx, s.bucket, u.name, bytes.NewReader(u.rest), int64(len(u.rest)),
			minio.PutObjectOptions{DisableMultipart: true, SendContentMd5: true})
		return explained(err)
	}
	err := u.part()
	if err == nil {
		_, err = s.client.CompleteMultipartUpload(u.ctx, s.bucket, u.name, u.id, u.parts, minio.PutObjectOptions{})
	}
	return explained(err)
}

// Abort gives the object up, and removes what was sent of it.
func (u *Upload) Abort() error {
	if u.id == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(u.ctx), 10*time.Second)
	defer cancel()
	return explained(u.store.client.AbortMultipartUpload(ctx, u.store.bucket, u.name, u.id))
}

// RemoveUnfinished removes the parts of uploads below a prefix that nobody will finish: a killed process leaves
// them, they are in no list of objects, and they take room.
func (s *Store) RemoveUnfinished(ctx context.Context, under string) error {
	listing, cancel := context.WithCancel(ctx)
	defer cancel()
	for upload := range s.client.ListIncompleteUploads(listing, s.bucket, s.prefix+under, true) {
		err := upload.Err
		if err == nil {
			err = s.client.AbortMultipartUpload(ctx, s.bucket, upload.Key, upload.UploadID)
		}
		if err != nil && minio.ToErrorResponse(err).Code != minio.NoSuchUpload {
			return explained(err)
		}
	}
	return ctx.Err()
}
