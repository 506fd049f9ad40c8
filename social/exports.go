package social

import (
	"context"

	"github.com/freshet/freshet/feed/personal"
)

// ExportState says how far an export is.
type ExportState string

// The states of an export.
const (
	ExportRunning ExportState = "running" // asked for, or being made
	ExportReady   ExportState = "ready"   // can be fetched until it expires
	ExportFetched ExportState = "fetched" // was sent completely; the rest of a transfer that was cut can still be fetched
	ExportFailed  ExportState = "failed"
	ExportEnded   ExportState = "ended" // of nobody any more; its file is to be removed
)

// Export is the record of the export of one agent. The zero value, but for the agent, means that there is none.
type Export struct {
	Agent        string
	Name         string // of the attempt and of its file, random
	State        ExportState
	Parts        int   // how many parts of the file may be stored
	Bytes        int64 // length of the file, once it is ready
	Sent         int64 // how much of the file was sent, from its beginning
	Asked, Until int64 // when it was asked for, and when it ends, in Unix seconds
	Reason       string
}

// Exports stores the records of exports, one of each agent at most, and the parts of files for servers that
// have no other place for them.
type Exports interface {
	// Export returns the record of an agent.
	Export(ctx context.Context, agent string) (Export, error)

	// ChangeExport changes the record of an agent to what change returns for the stored one, in one
	// transaction, and returns it. change may be called more than once; its errors are returned. A record
	// that gets another name replaces the earlier one, which then belongs to nobody, as one that gets the
	// state [ExportEnded].
	ChangeExport(ctx context.Context, agent string, change func(stored Export) (Export, error)) (Export, error)

	// EndedExports returns at most n records that belong to nobody, have ended by a time in Unix
	// seconds, or end after another, which none does unless a clock was ahead.
	EndedExports(ctx context.Context, now, latest int64, n int) ([]Export, error)

	// DropExport removes a record by its name.
	DropExport(ctx context.Context, name string) error

	// ExportParts returns the number of parts of all files.
	ExportParts(ctx context.Context) (int, error)

	// PutExportPart stores a part of a file. ExportPart returns it, or feed.ErrNotFound.
	// DropExportParts removes all parts of a file.
	PutExportPart(ctx context.Context, name string, part int, data []byte) error
	ExportPart(ctx context.Context, name string, part int) ([]byte, error)
	DropExportParts(ctx context.Context, name string) error
}

// Personal lists what a store has about agents.
type Personal interface {
	// PersonalParts returns everything that [Authors.EraseAgent] removes, and how it is exported.
	PersonalParts() []personal.Part
}

// ExportedImage is a line of an export that stands for the file of an image.
type ExportedImage struct {
	Image string `json:"image"`          // its key
	Post  string `json:"post,omitempty"` // "" for the image of the card
}
