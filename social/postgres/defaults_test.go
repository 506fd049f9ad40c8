package postgres_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/postgres"
)

// defaults are settings that ALTER DATABASE or ALTER ROLE may give every connection, with values that
// differ from PostgreSQL's own.
var defaults = map[string]string{
	"default_transaction_isolation":       "serializable",
	"default_transaction_deferrable":      "on",
	"DateStyle":                           "German",
	"IntervalStyle":                       "sql_standard",
	"TimeZone":                            "Asia/Kathmandu",
	"bytea_output":                        "escape",
	"extra_float_digits":                  "-15",
	"standard_conforming_strings":         "off",
	"transform_null_equals":               "on",
	"array_nulls":                         "off",
	"row_security":                        "off",
	"plan_cache_mode":                     "force_generic_plan",
	"idle_in_transaction_session_timeout": "5s",
	"client_min_messages":                 "debug5",
	"default_toast_compression":           "pglz",
	"enable_seqscan":                      "off",
	"work_mem":                            "64kB",
	"session_replication_role":            "origin",
	"client_encoding":                     "LATIN1",
	"quote_all_identifiers":               "on",
	"check_function_bodies":               "off",
	"backslash_quote":                     "off",
	"plpgsql.variable_conflict":           "use_column",
	"plpgsql.extra_errors":                "all",
	"default_statistics_target":           "1",
	"join_collapse_limit":                 "1",
	"jit_above_cost":                      "0",
	"statement_timeout":                   "60s",
	"lock_timeout":                        "60s",
	"idle_session_timeout":                "60s",
	"xmloption":                           "document",
	"default_text_search_config":          "simple",
	"lc_numeric":                          "C",
	"temp_buffers":                        "800kB",
}

// TestDefaultsOfTheDatabase creates the tables, and writes at the same time, with each of these settings.
func TestDefaultsOfTheDatabase(t *testing.T) {
	for name, value := range defaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := testenv.Postgres(t) + "&pool_max_conns=3&" + url.Values{name: {value}}.Encode()
			s, err := postgres.Open(t.Context(), postgres.Config{URL: address}, social.Options{KeepChanges: time.Hour, KeepNotifications: time.Hour, KeepReports: time.Hour})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, s.Close()) })
			report, err := s.Check(t.Context())
			require.NoError(t, err)
			require.Empty(t, report.Schema.Problems)
			const caption = `it's \ \\ zażółć`
			post, _, err := s.CreatePost(t.Context(), social.Post{Author: "ana", Caption: caption, Audience: social.Audience{Public: true}}, social.Creation{})
			require.NoError(t, err)

			const readers = 8
			var wg sync.WaitGroup
			for i := range readers {
				wg.Go(func() {
					reader := fmt.Sprintf("r%d", i)
					_, err := s.Follow(t.Context(), reader, "ana", time.Time{})
					assert.NoError(t, err)
					_, _, err = s.Like(t.Context(), reader, post.ID)
					assert.NoError(t, err)
				})
			}
			wg.Wait()
			card, _, err := s.Like(t.Context(), "r0", post.ID)
			require.NoError(t, err)
			assert.EqualValues(t, readers, card.Likes)
			var content struct{ Caption string }
			require.NoError(t, json.Unmarshal(card.Content, &content))
			assert.Equal(t, caption, content.Caption)
			leased, err := s.Lease(t.Context(), 100, time.Minute, jobs.Deliver)
			require.NoError(t, err)
			assert.NotEmpty(t, leased)
		})
	}
}

// TestEncodingOfTheClient checks that texts are stored as they are if the role, the database or the URL has
// another encoding for clients: other programs, and servers with another role, read the same.
func TestEncodingOfTheClient(t *testing.T) {
	t.Parallel()
	address := testenv.Postgres(t)
	for _, encoding := range []string{"LATIN1", "SQL_ASCII", "WIN1252", "EUC_JP"} {
		s, err := postgres.Open(t.Context(), postgres.Config{URL: address + "&pool_max_conns=2&client_encoding=" + encoding}, social.Options{})
		require.NoError(t, err)
		caption := encoding + " zażółć 日本 🙂"
		_, _, err = s.CreatePost(t.Context(), social.Post{Author: "ana", Caption: caption, Audience: social.Audience{Public: true}}, social.Creation{})
		require.NoError(t, err, encoding)
		require.NoError(t, s.Close())
		other, err := pgx.Connect(t.Context(), address)
		require.NoError(t, err)
		var found int
		require.NoError(t, other.QueryRow(t.Context(), "SELECT count(*) FROM posts WHERE position($1 IN content) > 0", caption).Scan(&found))
		assert.Equal(t, 1, found, encoding)
		require.NoError(t, other.Close(t.Context()))
	}
}
