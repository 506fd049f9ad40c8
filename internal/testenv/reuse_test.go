package testenv_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Reuse(m).Run()) }

// TestReusedSchemaEmpty checks that a test gets the tables of the previous one, without its
// rows but with the record of the migrations.
func TestReusedSchemaEmpty(t *testing.T) {
	testenv.PostgresURL(t)
	var first string
	t.Run("writes", func(t *testing.T) {
		first = testenv.ReusedPostgres(t)
		exec(t, first, `CREATE TABLE likes (id bigint GENERATED ALWAYS AS IDENTITY, post text); CREATE TABLE freshet_migrations (version bigint)`)
		exec(t, first, `INSERT INTO likes (post) VALUES ('a'), ('b'); INSERT INTO freshet_migrations VALUES (7)`)
	})
	t.Run("finds nothing", func(t *testing.T) {
		require.Equal(t, first, testenv.ReusedPostgres(t))
		require.NotEqual(t, first, testenv.ReusedPostgres(t), "one test at a time")
		exec(t, first, `INSERT INTO likes (post) VALUES ('c')`)
		require.Equal(t, []string{"1 c 7"}, query(t, first, `SELECT l.id || ' ' || l.post || ' ' || m.version FROM likes l, freshet_migrations m`))
	})
}

// TestReusedIndicesEmpty checks that a test gets the indices of the previous one, without
// their documents.
func TestReusedIndicesEmpty(t *testing.T) {
	const document = `{"n":1}`
	var name string
	t.Run("writes", func(t *testing.T) {
		address, index := testenv.ReusedElastic(t, "")
		name = index
		for _, path := range []string{"/_doc/a", "/_doc/b", "-agents/_doc/a", "-ranking/_doc/1"} {
			elastic(t, http.MethodPut, address+"/"+index+path, document)
		}
	})
	t.Run("finds nothing", func(t *testing.T) {
		address, index := testenv.ReusedElastic(t, "")
		require.Equal(t, name, index)
		_, other := testenv.ReusedElastic(t, "")
		require.NotEqual(t, index, other, "one test at a time")
		elastic(t, http.MethodPut, address+"/"+index+"/_doc/c?refresh=true", document)
		var found struct {
			Hits struct {
				Hits []struct {
					ID string `json:"_id"`
				}
			}
		}
		all := index + "," + index + "-agents," + index + "-ranking"
		require.NoError(t, json.Unmarshal(elastic(t, http.MethodGet, address+"/"+all+"/_search", ""), &found))
		require.Len(t, found.Hits.Hits, 1)
		require.Equal(t, "c", found.Hits.Hits[0].ID)
	})
}

func exec(t *testing.T, url, text string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { _ = c.Close(t.Context()) }()
	_, err = c.Exec(t.Context(), text)
	require.NoError(t, err)
}

func query(t *testing.T, url, text string) []string {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { _ = c.Close(t.Context()) }()
	rows, err := c.Query(t.Context(), text)
	require.NoError(t, err)
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return found
}

func elastic(t *testing.T, method, url, body string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Close = true
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Less(t, res.StatusCode, http.StatusMultipleChoices, "%s", answer)
	return answer
}
