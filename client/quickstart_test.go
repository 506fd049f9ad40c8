package client_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
)

// The program in docs/quickstart.md must compile and do what the page says.
func TestDocumentedQuickStartRuns(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/quickstart.md")
	require.NoError(t, err)
	_, after, ok := strings.Cut(string(page), "<!-- client -->\n```go\n")
	require.True(t, ok)
	lines, _, ok := strings.Cut(after, "```")
	require.True(t, ok)

	h, stop := embedded(asShipped)
	t.Cleanup(stop)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	_, err = connect(t, server.URL, client.WithAdminToken(adminToken)).Ingest(t.Context(), strings.NewReader(posts(90)), nil)
	require.NoError(t, err)

	require.Contains(t, lines, `"http://127.0.0.1:8080"`)
	lines = strings.Replace(lines, "http://127.0.0.1:8080", server.URL, 1)
	program := filepath.Join(t.TempDir(), "main.go")
	require.NoError(t, os.WriteFile(program, []byte(`package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/freshet/freshet/client"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
`+lines+"}\n"), 0o600))
	out, err := exec.CommandContext(t.Context(), "go", "run", program).CombinedOutput()
	require.NoError(t, err, "%s", out)
	var want strings.Builder
	for i := 89; i >= 0; i-- {
		fmt.Fprintf(&want, "post/%d Post %d\n", i, i)
	}
	require.Equal(t, want.String(), string(out))
}
