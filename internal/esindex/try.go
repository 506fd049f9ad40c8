package esindex

import (
	"context"
	"net/http"
)

// tried is a write that no state of an index lets succeed, and that is refused like any other before
// that: by a block, a full disk, missing copies or rights.
const tried = `{"delete":{"_id":"freshet:tried","if_seq_no":4611686018427387904,"if_primary_term":1}}` + "\n"

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
			got := item["delete"]
			if got.Error != nil && got.Status != http.StatusConflict {
				return got.Error.Refusal(got.Status)
			}
		}
		return nil
	})
}
