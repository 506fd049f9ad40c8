package esindex

import (
	"errors"
	"net/http"
	"regexp"
	"strings"
)

// refusedAction is how Elasticsearch names the action that a user may not do.
var refusedAction = regexp.MustCompile(`action \[(\S+)\] is unauthorized`)

// privileges map the beginnings of actions to the least privilege that grants them. The first that
// fits counts.
var privileges = []struct{ action, privilege string }{
	{"cluster:monitor/", "the cluster privilege monitor"},
	{"cluster:", "a cluster privilege"},
	{"indices:data/read/", "the privilege read for the indices"},
	{"indices:data/write/", "the privilege write for the indices"},
	{"indices:monitor/settings/get", "the privilege view_index_metadata for the indices"},
	{"indices:admin/get", "the privilege view_index_metadata for the indices"},
	{"indices:admin/mappings/", "the privilege view_index_metadata for the indices"},
	{"indices:admin/aliases/get", "the privilege view_index_metadata for the indices"},
	{"indices:monitor/", "the privilege monitor for the indices"},
	{"indices:admin/refresh", "the privilege maintenance for the indices"},
	{"indices:", "the privilege manage for the indices"},
}

// Privilege returns the privilege that the user lacks, if Elasticsearch refused a request for that
// reason and named the action, and "" otherwise. A response to HEAD names none.
func Privilege(err error) string {
	var refused *Error
	if !errors.As(err, &refused) || refused.Status != http.StatusForbidden {
		return ""
	}
	named := refusedAction.FindStringSubmatch(refused.Reason)
	if named == nil {
		return ""
	}
	for _, p := range privileges {
		if strings.HasPrefix(named[1], p.action) {
			return p.privilege
		}
	}
	return ""
}
