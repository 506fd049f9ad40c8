package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

func newFollowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "follow AUTHOR...",
		Short:   "Follow authors, or stop to",
		Long:    "Makes an agent follow authors. The author @server stands for every public post.",
		Example: "  freshet follow --agent u_1 ana.costa freya.costa\n  freshet follow --agent u_1 --end ana.costa",
		Args:    cobra.MinimumNArgs(1),
	}
	caller := addCallerFlags(cmd, "follows")
	end := cmd.Flags().Bool("end", false, "unfollow them")
	cmd.RunE = func(cmd *cobra.Command, authors []string) error {
		if caller.agent == "" {
			return &usageError{cmd.CommandPath(), fmt.Errorf("who follows? give --agent, with --token too for a server in jwt mode")}
		}
		return follow(cmd, caller, authors, *end)
	}
	return cmd
}

func follow(cmd *cobra.Command, caller *callerFlags, authors []string, end bool) error {
	server, err := caller.connect(cmd)
	if err != nil {
		return err
	}
	defer server.Close()
	change, news, old := server.Follow, "follows %s\n", "followed %s already\n"
	if end {
		change, news, old = server.Unfollow, "does not follow %s any more\n", "did not follow %s\n"
	}
	for _, author := range authors {
		ctx, cancel := context.WithTimeout(cmd.Context(), feedWait)
		changed, err := change(ctx, caller.agent, author)
		cancel()
		if err != nil {
			return fmt.Errorf("%s: %w", author, err)
		}
		text := old
		if changed {
			text = news
		}
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), caller.agent+" "+text, author); err != nil {
			return err
		}
	}
	return nil
}
