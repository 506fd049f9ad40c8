package esindex

import (
	"context"
	"net/http"
)

// tried are writes that no state of an index lets succeed, and that are refused like any other before
// that: by a block, a full disk, missing copies or rights, and a document also by an ingest pipeline.
const tried = `{"delete":{"_id":"freshet:tried","if_seq_no":4611686018427387904,"if_primary_term":1}}
{"index":{"_id":"freshet:tried","if_seq_no":4611686018427387904,"if_primary_term":1}}
{"id":"freshet:tried","title":"freshet tries a write"}
`

// TryWrite tries to write to an index, and changes nothing. If the index does not exist, the error
// satisfies [Missing].
func TryWrite(ctx context.Context, client Client, index string) error {
	return NewWriter(client, index, nil).Write(ctx, func(name, params string) error {
		var answer struct {
			Items []map[string]struct {
				Status int
				Error  *Cause
			}
		}
		err := Ask(ctx, client, http.MethodPost, "/"+name+"/_bulk", params+"filter_path=error,status,items.*.status,items.*.error", []byte(tried), &answer)
		if err != nil {
			return err
		}
		for _, item := range answer.Items {
			for action, got := range item {
				switch {
				case got.Status == http.StatusConflict:
				case got.Error != nil:
					return got.Error.Refusal(got.Status)
				case action == "index": // that it succeeded means that it was not tried
					return &Error{Status: http.StatusBadRequest, Type: "dropped", Reason: "an ingest pipeline drops documents"}
				}
			}
		}
		return nil
	})
}
