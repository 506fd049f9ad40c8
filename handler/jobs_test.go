package handler

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

func listJobs(t *testing.T, f *fixture, query string) (data api.JobPage[jobs.Job]) {
	t.Helper()
	answer := f.do(t, "GET", "/v1/jobs"+query, "", asAdmin)
	require.Zero(t, answer.Code, answer.Msg)
	require.NoError(t, json.Unmarshal(answer.Data, &data))
	return data
}

func TestListJobs(t *testing.T) {
	t.Parallel()
	f, store := socialFixture(t, nil)
	data := listJobs(t, f, "")
	require.Equal(t, []jobs.Job{}, data.Jobs)
	require.Equal(t, []api.JobRows{}, data.Queue.Rows)
	publish(t, store, social.Post{ID: "post:a", Author: "u_1"})
	publish(t, store, social.Post{ID: "post:b", Author: "u_1"})
	data = listJobs(t, f, "")
	require.Len(t, data.Jobs, 4)
	require.Nil(t, data.NextAfter)
	require.ElementsMatch(t, []api.JobRows{{Kind: "deliver", State: "pending", Count: 2}, {Kind: "index", State: "pending", Count: 2}}, data.Queue.Rows)

	first := listJobs(t, f, "?kind=deliver&limit=1")
	require.Equal(t, "post:a", first.Jobs[0].Key)
	require.Equal(t, first.Jobs[0].ID, *first.NextAfter)
	second := listJobs(t, f, fmt.Sprintf("?kind=deliver&limit=1&after=%d", *first.NextAfter))
	require.Equal(t, "post:b", second.Jobs[0].Key)
	require.Nil(t, second.NextAfter)
	require.Len(t, listJobs(t, f, "?key=post:a&state=pending").Jobs, 2)
	require.Empty(t, listJobs(t, f, "?state=dead").Jobs)
	require.Empty(t, listJobs(t, f, "?key=1").Jobs)
	require.Len(t, listJobs(t, f, "?kind=&state=&key=").Jobs, 4, "an empty text is none")
	require.Equal(t, 40001, f.do(t, "GET", "/v1/jobs?after=-1", "", asAdmin).Code)
}

func TestRetryAndDropJobs(t *testing.T) {
	t.Parallel()
	f, store := socialFixture(t, nil)
	publish(t, store, social.Post{ID: "post:a", Author: "u_1"})
	leased, err := store.LeaseKey(t.Context(), jobs.Deliver, "post:a", time.Minute)
	require.NoError(t, err)
	_, err = store.Done(t.Context(), leased)
	require.NoError(t, err)
	one := fmt.Sprintf("/v1/jobs/%d", leased.ID)
	require.Zero(t, f.do(t, "POST", one+"/retry", "", asAdmin).Code)
	require.Equal(t, jobs.Pending, listJobs(t, f, "?kind=deliver").Jobs[0].State)
	require.Zero(t, f.do(t, "DELETE", one, "", asAdmin).Code)
	require.Empty(t, listJobs(t, f, "?kind=deliver").Jobs)
	require.Equal(t, 40401, f.do(t, "DELETE", one, "", asAdmin).Code)
	require.Equal(t, 40401, f.do(t, "POST", one+"/retry", "", asAdmin).Code)
	require.Equal(t, 40001, f.do(t, "POST", "/v1/jobs/x/retry", "", asAdmin).Code)
}

func TestRequeuePostJobs(t *testing.T) {
	t.Parallel()
	f, store := socialFixture(t, nil)
	publish(t, store, social.Post{ID: "post:a", Author: "u_1"})
	before := listJobs(t, f, "").Jobs
	answer := f.do(t, "POST", "/v1/jobs", `{"post":"post:a"}`, asAdmin)
	require.JSONEq(t, `{"kinds":["deliver","index"],"key":"post:a"}`, string(answer.Data))
	for i, j := range listJobs(t, f, "").Jobs {
		require.Equal(t, before[i].Generation+1, j.Generation)
		require.Equal(t, jobs.PrioritySoon, j.Priority)
	}
	require.Equal(t, 40401, f.do(t, "POST", "/v1/jobs", `{"post":"post:b"}`, asAdmin).Code)
	require.Equal(t, 40004, f.do(t, "POST", "/v1/jobs", `{"post":"b"}`, asAdmin).Code)
	require.Equal(t, 40001, f.do(t, "POST", "/v1/jobs", `{"kind":"deliver"}`, asAdmin).Code)
}

func TestJobsNeedAdmin(t *testing.T) {
	t.Parallel()
	f, _ := socialFixture(t, nil)
	for _, call := range [][2]string{{"GET", "/v1/jobs"}, {"POST", "/v1/jobs"}, {"POST", "/v1/jobs/rederive"}, {"POST", "/v1/jobs/1/retry"}, {"DELETE", "/v1/jobs/1"}} {
		require.Equal(t, 40101, f.do(t, call[0], call[1], "").Code, call)
		require.Equal(t, 40301, f.do(t, call[0], call[1], "", asAgent).Code, call)
	}
}
