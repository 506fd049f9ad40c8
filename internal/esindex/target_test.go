package esindex_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/esindex"
)

func TestFindTarget(t *testing.T) {
	client, index := connect(t)
	find := func(name string) esindex.Target {
		t.Helper()
		target, err := esindex.FindTarget(t.Context(), client, name)
		require.NoError(t, err)
		return target
	}
	_, err := esindex.FindTarget(t.Context(), client, index)
	require.True(t, esindex.Missing(err), "%v", err)

	send(t, client, http.MethodPut, "/"+index, "{}")
	assert.Equal(t, esindex.Target{Name: index}, find(index), "a foreign index, or one of an older version")
	created, err := esindex.Ensure(t.Context(), client, index, esindex.Fields{})
	require.NoError(t, err)
	assert.Equal(t, []string{esindex.Agents(index), esindex.Rankings(index)}, created)
	for _, name := range []string{index, esindex.Agents(index), esindex.Rankings(index)} {
		assert.Equal(t, esindex.Target{Name: esindex.WriteAlias(name), Alias: true}, find(name))
	}
	send(t, client, http.MethodPut, "/"+index+"/_alias/"+index+"-all", "")
	assert.Equal(t, esindex.Target{Name: index + "-all", Alias: true}, find(index+"-all"))
	assert.Equal(t, esindex.Target{Name: index + "*"}, find(index+"*"), "a pattern")

	next := index + "-next"
	send(t, client, http.MethodPut, "/"+next, "{}")
	send(t, client, http.MethodPut, "/"+next+"/_alias/"+esindex.WriteAlias(index), "")
	assert.Equal(t, esindex.Target{Name: index}, find(index), "the alias is foreign: it also has another index")
}

// TestFindTargetIndexDeleted deletes the index after each request. The result is the previous
// target, or that the index is missing.
func TestFindTargetIndexDeleted(t *testing.T) {
	client, index := connect(t)
	_, err := esindex.Ensure(t.Context(), client, index, esindex.Fields{})
	require.NoError(t, err)
	_, err = esindex.FindTarget(t.Context(), after{client, func() {
		_ = esindex.Do(t.Context(), client, http.MethodDelete, "/"+index, "", nil, nil)
	}}, index)
	require.True(t, err == nil || esindex.Missing(err), "%v", err)
}

// after is a client that calls do after each request.
type after struct {
	esindex.Client
	do func()
}

func (a after) Perform(req *http.Request) (*http.Response, error) {
	res, err := a.Client.Perform(req)
	a.do()
	return res, err
}

// TestWriter checks that a write to a missing index creates it with the proper mapping or fails.
// It never creates one with guessed types.
func TestWriter(t *testing.T) {
	client, index := connect(t)
	exists := func() bool {
		return esindex.Do(t.Context(), client, http.MethodHead, "/"+index, "", nil, nil) == nil
	}
	remove := func() { send(t, client, http.MethodDelete, "/"+index, "") }
	put := func(w *esindex.Writer) error {
		return w.Write(t.Context(), func(name, params string) error {
			return esindex.Do(t.Context(), client, http.MethodPut, "/"+name+"/_create/a", params+"refresh=true", []byte(`{"x":1}`), nil)
		})
	}
	made := 0
	own := esindex.NewWriter(client, index, func(ctx context.Context) error {
		made++
		_, err := esindex.Ensure(ctx, client, index, esindex.Fields{})
		return err
	})
	nobodys := esindex.NewWriter(client, index, nil)

	err := put(nobodys)
	require.True(t, esindex.Missing(err), "%v", err)
	require.ErrorIs(t, err, esindex.ErrUnavailable)
	require.False(t, exists())
	require.NoError(t, put(own))
	require.Equal(t, 1, made)
	report, err := esindex.Inspect(t.Context(), client, index, esindex.Fields{})
	require.NoError(t, err)
	require.Empty(t, report.Problems, "it has the mapping of Freshet's own")
	require.True(t, esindex.IsType(put(nobodys), "version_conflict_engine_exception"), "it is there now")

	remove() // while both have cached its alias
	require.True(t, esindex.Missing(put(nobodys)))
	require.False(t, exists())
	require.NoError(t, put(own))
	require.Equal(t, 2, made)

	remove() // an index of an older version, without an alias, replaces it
	send(t, client, http.MethodPut, "/"+index, `{"mappings": {"dynamic": false}}`)
	require.NoError(t, put(nobodys))
	remove()
	require.True(t, esindex.Missing(put(nobodys)), "it is looked for before each write")
	require.False(t, exists())

	failing := errors.New("may not")
	err = put(esindex.NewWriter(client, index, func(context.Context) error { return failing }))
	require.ErrorIs(t, err, failing)
}

func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		err                        error
		missing, gone, refused, up bool
	}{
		{&esindex.Error{Status: 404, Type: "index_not_found_exception"}, true, true, true, false},
		{&esindex.Error{Status: 400, Type: "index_closed_exception"}, false, true, true, false},
		{&esindex.Error{Status: 400, Type: "parsing_exception"}, false, false, true, true},
		{&esindex.Error{Status: 429, Type: "es_rejected_execution_exception"}, false, false, false, false},
		{&esindex.Error{Status: 503, Type: "no_shard_available_action_exception"}, false, false, false, false},
		{fmt.Errorf("%w: refused", esindex.ErrUnavailable), false, false, false, false},
	} {
		err := fmt.Errorf("while searching: %w", test.err)
		assert.Equal(t, test.missing, esindex.Missing(err), "%v", err)
		assert.Equal(t, test.gone, esindex.Gone(err), "%v", err)
		assert.Equal(t, test.refused, esindex.Refused(err), "%v", err)
		assert.Equal(t, test.up, !errors.Is(err, esindex.ErrUnavailable), "%v", err)
	}
}
