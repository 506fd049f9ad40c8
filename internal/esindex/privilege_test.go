package esindex

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPrivilege(t *testing.T) {
	t.Parallel()
	for action, want := range map[string]string{
		"cluster:monitor/main":              "the cluster privilege monitor",
		"indices:data/read/search":          "the privilege read for the indices",
		"indices:data/write/bulk[s]":        "the privilege write for the indices",
		"indices:admin/mappings/get":        "the privilege view_index_metadata for the indices",
		"indices:monitor/settings/get":      "the privilege view_index_metadata for the indices",
		"indices:monitor/stats":             "the privilege monitor for the indices",
		"indices:admin/refresh":             "the privilege maintenance for the indices",
		"indices:admin/create":              "the privilege manage for the indices",
		"cluster:admin/settings/update":     "a cluster privilege",
		"internal:something/nobody/foresaw": "",
	} {
		refused := &Error{Status: http.StatusForbidden, Type: "security_exception", Reason: "action [" + action + "] is unauthorized for user [freshet] with effective roles [app] on indices [items], this action is granted by …"}
		assert.Equal(t, want, Privilege(fmt.Errorf("read: %w", refused)), action)
	}
	for _, err := range []error{
		nil, errors.New("action [cluster:monitor/main] is unauthorized"),
		&Error{Status: http.StatusForbidden, Reason: "no reason given"},
		&Error{Status: http.StatusUnauthorized, Reason: "unable to authenticate user"},
	} {
		assert.Empty(t, Privilege(err))
	}
}
