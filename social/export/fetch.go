package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// File is the file of an export. It is used by one goroutine.
type File struct {
	Name  string
	Agent string
	Bytes int64

	read func(part int) ([]byte, error)
	at   int64
	held int // the part in data; 0 for none
	data []byte
}

var _ io.ReadSeeker = (*File)(nil)

// Open opens the file of an export, to send it. rest means that the caller continues a transfer that was cut: that may
// also be one that was sent to its end. ctx bounds reads of the file. Errors are [feed.ErrNotFound] and [feed.ErrGone], which
// say what to do, or those of the stores.
func (x *Exporter) Open(ctx context.Context, agent string, rest bool) (*File, error) {
	e, err := x.State(ctx, agent)
	if err != nil {
		return nil, err
	}
	const ask = "ask for one with POST /v1/agents/{agent_id}/export"
	switch {
	case e.State == social.ExportRunning:
		return nil, feed.Errorf(feed.ErrNotFound, "the export is not ready yet; GET /v1/agents/{agent_id}/export says when it is")
	case e.State == social.ExportFailed:
		return nil, feed.Errorf(feed.ErrNotFound, "the export has failed: %s", e.Reason)
	case e.State == social.ExportFetched && !rest:
		return nil, feed.Errorf(feed.ErrGone, "the export was fetched already; %s", ask)
	case e.State != social.ExportReady && e.State != social.ExportFetched:
		return nil, feed.Errorf(feed.ErrNotFound, "there is no export, or it has expired; %s", ask)
	}
	f := &File{Name: e.Name, Agent: agent, Bytes: e.Bytes, read: func(part int) ([]byte, error) { return x.Files.Get(ctx, e.Name, part) }}
	err = f.hold(1)
	// The data was restored from a backup, which has no files of exports, or the machine has lost power.
	if errors.Is(err, feed.ErrNotFound) || errors.Is(err, errCut) {
		return nil, errors.Join(feed.Errorf(feed.ErrGone, "the file of the export is lost; %s", ask), x.lose(ctx, f))
	}
	return f, err
}

// errCut is the error of a part of another length than it was stored with.
var errCut = errors.New("a part of an export is not whole")

// lose ends an export whose file is lost, so that the agent can ask for another at once.
func (x *Exporter) lose(ctx context.Context, f *File) error {
	_, err := x.Store.ChangeExport(ctx, f.Agent, func(e social.Export) (social.Export, error) {
		if e.Name == f.Name {
			e.State = social.ExportEnded
		}
		return e, nil
	})
	return err
}

// hold reads a part, unless it has it.
func (f *File) hold(part int) error {
	if f.held == part {
		return nil
	}
	data, err := f.read(part)
	if err != nil {
		return err
	}
	want := min(partBytes, f.Bytes-int64(part-1)*partBytes)
	if int64(len(data)) != want {
		return fmt.Errorf("%w: part %d has %d bytes instead of %d", errCut, part, len(data), want)
	}
	f.held, f.data = part, data
	return nil
}

// Read implements [io.Reader].
func (f *File) Read(p []byte) (int, error) {
	if f.at >= f.Bytes {
		return 0, io.EOF
	}
	if err := f.hold(int(f.at/partBytes) + 1); err != nil {
		return 0, err
	}
	n := copy(p, f.data[f.at%partBytes:])
	f.at += int64(n)
	return n, nil
}

// Seek implements [io.Seeker].
func (f *File) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += f.at
	case io.SeekEnd:
		offset += f.Bytes
	}
	if offset < 0 {
		return 0, errors.New("a position before the beginning of the file")
	}
	f.at = offset
	return offset, nil
}

// Sent notes that the bytes of a file from one position to another were sent. Once all were, from the beginning, the
// export is fetched, and its file is removed after [KeepFetched].
func (x *Exporter) Sent(ctx context.Context, f *File, from, to int64) error {
	_, err := x.Store.ChangeExport(ctx, f.Agent, func(e social.Export) (social.Export, error) {
		if e.Name != f.Name || e.State != social.ExportReady || from > e.Sent {
			return e, nil
		}
		e.Sent = max(e.Sent, to)
		if e.Sent >= e.Bytes {
			e.State, e.Until = social.ExportFetched, x.Clock().Add(KeepFetched).Unix()
		}
		return e, nil
	})
	return err
}

// Rest returns when the next export can be asked for, after one that was fetched or has failed.
func Rest(e *social.Export) time.Time { return time.Unix(e.Asked, 0).Add(Pause).UTC() }
