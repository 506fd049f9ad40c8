package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/cmd/freshet/cli"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
)

// callWait is the time limit of a call by a command; the server gives up sooner.
const callWait = time.Minute

// call holds the common parts of commands that call a server: the server, the caller, and the
// output format.
type call struct {
	cmd    *cobra.Command
	server func() string
	token  func() (string, error)
	json   *bool
	does   string  // the role of the calling agent; "" if an admin or anyone may call
	caller *string // the agent's id
}

// newAdminCall adds the flags of a command for admins; what describes the output. The environment
// is read when the command runs, so that help never shows a token.
func newAdminCall(cmd *cobra.Command, what string) *call {
	server := configs.EnvName("auth.admin_token")
	token := cmd.Flags().String("token", "", fmt.Sprintf("admin token; also by %s, or the server's own %s (or …_FILE)", configs.EnvAdminToken, server))
	r := &call{
		cmd: cmd, server: serverFlag(cmd), json: cmd.Flags().Bool("json", false, "print "+what+" as JSON"),
		token: func() (string, error) {
			if *token != "" {
				return *token, nil
			}
			return configs.AdminToken(os.Getenv)
		},
	}
	cmd.PreRunE = r.checkFlags
	return r
}

// newAgentCall adds the flags of a command that calls as an app does; does describes the agent's
// role.
func newAgentCall(cmd *cobra.Command, does string) *call {
	token := cmd.Flags().String("token", "", "Bearer token of the agent, for a server in jwt mode (instead of --agent)")
	r := &call{
		cmd: cmd, server: serverFlag(cmd), json: new(bool), does: does,
		caller: cmd.Flags().String("agent", "", "id of the agent that "+does), token: func() (string, error) { return *token, nil },
	}
	cmd.PreRunE = r.checkFlags
	return r
}

// serverFlag adds the --server flag, which all commands that call a server share.
func serverFlag(cmd *cobra.Command) func() string {
	server := cmd.Flags().String("server", "http://127.0.0.1:8080", "URL of the server; also by "+configs.EnvServer)
	return func() string {
		if !cmd.Flags().Changed("server") {
			return cmp.Or(os.Getenv(configs.EnvServer), *server)
		}
		return *server
	}
}

// mayBeEmpty are the flags for which an empty text means what leaving them out means. Any other
// empty text is refused: it is mostly an unset variable of a shell, and --circle "" must not
// publish for everybody.
var mayBeEmpty = []string{"a", "b", "set", "by", "why", "cursor", "after", "token", "alt"}

// checkFlags refuses a flag that is given with a value that a call would leave out.
func (r *call) checkFlags(cmd *cobra.Command, _ []string) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		value, isList := f.Value.String(), strings.HasSuffix(f.Value.Type(), "Slice") || strings.HasSuffix(f.Value.Type(), "Array")
		isEmptyList := isList && (value == "[]" || value == `[""]`)
		isEmpty := value == "" || isEmptyList
		switch {
		case isEmpty && !slices.Contains(mayBeEmpty, f.Name):
			err = r.usage(fmt.Errorf("--%s is empty: give it a value, or leave it out", f.Name))
		case f.Name == "limit" && value == "0":
			err = r.usage(errors.New("--limit must be at least 1, not 0"))
		}
	})
	return err
}

// connect returns a client, which the caller must close, or a usage error.
func (r *call) connect(options ...client.Option) (*client.Client, error) {
	token, err := r.token()
	if err != nil {
		return nil, r.usage(err)
	}
	options = append(options, client.WithToken(token))
	if r.does != "" {
		if *r.caller == "" && token == "" {
			return nil, r.usage(errors.New("--agent is required, or --token for a server in jwt mode"))
		}
		if *r.caller != "" {
			if err := feed.CheckAgentID(*r.caller); err != nil {
				return nil, r.usage(fmt.Errorf("--agent: %w", err))
			}
			options = append(options, client.WithAgent(*r.caller))
		}
	}
	c, err := client.New(r.server(), options...)
	if err != nil {
		return nil, r.usage(err)
	}
	return c, nil
}

// do makes a command's single call.
func (r *call) do(do func(ctx context.Context, c *client.Client) error) error {
	c, err := r.connect()
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(r.cmd.Context(), callWait)
	defer cancel()
	return do(ctx, c)
}

// show calls ask and prints the result.
func show[T any](r *call, ask func(ctx context.Context, c *client.Client) (T, error), text func(io.Writer, T) error) error {
	return r.do(func(ctx context.Context, c *client.Client) error {
		v, err := ask(ctx, c)
		if err != nil {
			return err
		}
		return answer(r, v, text)
	})
}

// each calls do for each of the arguments, prints the line that it returns, and stops at the first
// error.
func (r *call) each(args []string, what string, do func(ctx context.Context, c *client.Client, arg string) (line string, err error)) error {
	c, err := r.connect()
	if err != nil {
		return err
	}
	defer c.Close()
	for _, arg := range args {
		ctx, cancel := context.WithTimeout(r.cmd.Context(), callWait)
		line, err := do(ctx, c, arg)
		cancel()
		if err != nil {
			return fmt.Errorf("%s%s: %w", what, arg, err)
		}
		if _, err := fmt.Fprintln(r.cmd.OutOrStdout(), line); err != nil {
			return err
		}
	}
	return nil
}

// answer prints v as text, or as JSON with --json: the data of a response as received.
func answer[T any](r *call, v T, text func(io.Writer, T) error) error {
	w := r.cmd.OutOrStdout()
	raw, came := any(v).(json.RawMessage)
	switch {
	case *r.json && came:
		_, err := fmt.Fprintf(w, "%s\n", raw)
		return err
	case *r.json:
		return cli.WriteJSON(w, v)
	}
	return text(w, v)
}

func (r *call) usage(err error) error { return &usageError{r.cmd.CommandPath(), err} }

// terminalWidth returns the number of columns of a terminal; 0 if w is not a terminal.
func terminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}
