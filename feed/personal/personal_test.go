package personal_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed/personal"
)

func nothing(context.Context, string) error { return nil }

func export(context.Context, string, func(any) error) error { return nil }

// TestCheck: a source that is erased and not exported fails, and the reverse.
func TestCheck(t *testing.T) {
	t.Parallel()
	good := personal.Part{Name: "good_one", What: "a line", Places: []string{"social t"}, Export: export}
	withheld := personal.Part{Name: "withheld", What: "a filter", Places: []string{"redis f:"}, Without: "its bits name nobody"}
	require.NoError(t, personal.Sources{{Erase: nothing, Parts: []personal.Part{good, withheld}}}.Check())
	for name, bad := range map[string]personal.Source{
		"not erased":             {Parts: []personal.Part{good}},
		"without parts":          {Erase: nothing},
		"neither nor":            {Erase: nothing, Parts: []personal.Part{{Name: "a", What: "b", Places: []string{"c"}}}},
		"one name for two":       {Erase: nothing, Parts: []personal.Part{good, good}},
		"no place":               {Erase: nothing, Parts: []personal.Part{{Name: "a", What: "b", Export: export}}},
		"a name that is no name": {Erase: nothing, Parts: []personal.Part{{Name: "../a", What: "b", Places: []string{"c"}, Export: export}}},
	} {
		require.Error(t, personal.Sources{bad}.Check(), name)
	}
}

func TestEraseInOrder(t *testing.T) {
	t.Parallel()
	failed, erased := errors.New("failed"), ""
	erase := func(name string, err error) personal.Source {
		return personal.Source{Erase: func(_ context.Context, agent string) error {
			erased += name + agent
			return err
		}}
	}
	require.ErrorIs(t, personal.Sources{erase("a", nil), erase("b", failed), erase("c", nil)}.Erase(t.Context(), "1"), failed)
	require.Equal(t, "a1b1", erased)
}
