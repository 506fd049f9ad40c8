package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/cmd/freshet/cli"
)

func newModerateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "moderate", Short: "Work through open reports: show each, and ask what to do", Args: cobra.NoArgs,
		Long: "Shows what agents have reported, one object after the other, the latest report first, with the post that it is " +
			"about, and asks for a decision. Each decision takes effect at once. The audit log says what was read and decided.",
		Example: "  freshet moderate",
	}
	call := newAdminCall(cmd, "the open reports, without asking,")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *call.json {
			return show(call, func(ctx context.Context, c *client.Client) (client.ReportedPage, error) {
				return c.ReportedObjects(ctx, false, "", 100)
			}, nil)
		}
		m := moderator{call: call, in: bufio.NewScanner(cmd.InOrStdin()), out: cmd.OutOrStdout(), now: time.Now}
		return m.run()
	}
	return cmd
}

// moderator asks for decisions about reports.
type moderator struct {
	call *call
	in   *bufio.Scanner
	out  io.Writer
	now  func() time.Time

	decided int
}

// errQuit ends the command.
var errQuit = errors.New("quit")

// run asks about all open reports, page by page. What was skipped is not asked for again.
func (m *moderator) run() error {
	cursor, more := "", true
	for more {
		page, err := ask(m, func(ctx context.Context, c *client.Client) (client.ReportedPage, error) {
			return c.ReportedObjects(ctx, false, cursor, 20)
		})
		for i := 0; err == nil && i < len(page.Objects); i++ {
			err = m.decide(&page.Objects[i])
		}
		if err != nil && !errors.Is(err, errQuit) {
			return err
		}
		more = err == nil && page.NextCursor != nil
		if more {
			cursor = *page.NextCursor
		}
	}
	_, err := fmt.Fprintf(m.out, "%d decided\n", m.decided)
	return err
}

// ask makes one call of the session, with a time limit of its own.
func ask[T any](m *moderator, do func(context.Context, *client.Client) (T, error)) (data T, err error) {
	err = m.call.do(func(ctx context.Context, c *client.Client) error {
		data, err = do(ctx, c)
		return err
	})
	return data, err
}

// decide shows one object and asks what to do, until the answer is valid.
func (m *moderator) decide(o *client.ReportedObject) error {
	author, err := m.show(o)
	if err != nil {
		return err
	}
	choices := "dismiss, skip, quit"
	if author != "" {
		choices = "suspend DURATION, " + choices
	}
	if o.Kind == client.ReportedPost && author != "" {
		choices = "hold, remove, " + choices
	}
	for {
		if _, err := fmt.Fprintf(m.out, "%s? ", choices); err != nil {
			return err
		}
		line, err := m.line()
		if err != nil {
			return err
		}
		todo, wrong := m.parse(o, author, line)
		switch {
		case errors.Is(wrong, errQuit):
			return wrong
		case wrong == nil && todo == nil:
			return nil
		case wrong == nil:
			wrong = m.act(todo)
			if !errors.Is(wrong, client.ErrBadRequest) { // such as a reason that is too long
				return wrong
			}
		}
		if _, err := fmt.Fprintln(m.out, wrong); err != nil {
			return err
		}
	}
}

// line reads an answer; the end of the input means quit.
func (m *moderator) line() (string, error) {
	if !m.in.Scan() {
		_, err := fmt.Fprintln(m.out)
		return "", errors.Join(err, m.in.Err(), errQuit)
	}
	return strings.TrimSpace(m.in.Text()), nil
}

// parse returns the action that an answer asks for; nil skips the object. A suspension is of the author of a post, which
// the server then tells the moderator.
func (m *moderator) parse(o *client.ReportedObject, author, line string) ([]client.Moderation, error) {
	word, rest, _ := strings.Cut(line, " ")
	one := client.Moderation{Object: o.Object, Action: client.ModerationAction(word), Reason: strings.TrimSpace(rest)}
	switch {
	case word == "quit":
		return nil, errQuit
	case word == "skip":
		return nil, nil
	case word == "dismiss", (word == "hold" || word == "remove") && o.Kind == client.ReportedPost:
		return []client.Moderation{one}, nil
	case word != "suspend" || author == "":
		return nil, fmt.Errorf("%q is none of these; a reason may follow the word, such as: remove advertisement", line)
	}
	length, reason, _ := strings.Cut(one.Reason, " ")
	d, err := time.ParseDuration(length)
	if err != nil || d < time.Second {
		return nil, fmt.Errorf("%q is no duration: say for how long, such as: suspend 72h spam", length)
	}
	one.Object = client.ModerationObject{Kind: client.ReportedAuthor, ID: author}
	one.Reason, one.Until = strings.TrimSpace(reason), m.now().Add(d).Unix()
	if o.Kind == client.ReportedAuthor {
		return []client.Moderation{one}, nil
	}
	return []client.Moderation{one, {Object: o.Object, Action: "hold", Reason: one.Reason}}, nil
}

// act does what was decided.
func (m *moderator) act(todo []client.Moderation) error {
	for _, one := range todo {
		_, err := ask(m, func(ctx context.Context, c *client.Client) (bool, error) { return c.Moderate(ctx, one) })
		if errors.Is(err, client.ErrNotFound) { // it was deleted meanwhile
			one.Action, one.Reason = "dismiss", ""
			_, err = ask(m, func(ctx context.Context, c *client.Client) (bool, error) { return c.Moderate(ctx, one) })
		}
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(m.out, "%s: %s %s\n", one.Action, one.Object.Kind, one.Object.ID); err != nil {
			return err
		}
	}
	m.decided++
	return nil
}

// show prints a reported object, and returns the author whom a suspension would concern; "" for none.
func (m *moderator) show(o *client.ReportedObject) (author string, err error) {
	var post *client.ModeratedPost
	switch o.Kind {
	case client.ReportedAuthor:
		author = o.ID
	case client.ReportedPost:
		p, err := ask(m, func(ctx context.Context, c *client.Client) (client.ModeratedPost, error) {
			return c.ModeratedPost(ctx, o.ID)
		})
		switch {
		case errors.Is(err, client.ErrNotFound):
		case err != nil:
			return "", err
		default:
			post, author = &p, p.Author
		}
	}
	return author, cli.WriteReported(m.out, o, post, m.now())
}
