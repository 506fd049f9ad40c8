package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/internal/cli"
)

type postFlags struct {
	caller    *callerFlags
	followers bool
	circles   []string
	mentions  []string
	tags      []string
	json      bool
}

func newPostCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "post CAPTION",
		Short: "Publish a post",
		Long: "Publishes a post as an app would, and prints its id. Without a flag that says otherwise everybody\n" +
			"may see it; with --mention alone, only who is mentioned.",
		Example: "  freshet post --agent u_1 'Snow on the pass #ski'\n  freshet post --agent u_1 --followers 'Only for you'",
		Args:    cobra.ExactArgs(1),
	}
	f := postFlags{caller: addCallerFlags(cmd, "publishes")}
	cmd.Flags().BoolVar(&f.followers, "followers", false, "only followers may see it")
	cmd.Flags().StringSliceVar(&f.circles, "circle", nil, "id of a circle of the agent's that may see it; may be given several times")
	cmd.Flags().StringSliceVar(&f.mentions, "mention", nil, "id of an agent who may see it in any case; may be given several times")
	cmd.Flags().StringSliceVar(&f.tags, "tag", nil, "tag beside the caption's hashtags; may be given several times")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the post as JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return publish(cmd, f, args[0]) }
	return cmd
}

func publish(cmd *cobra.Command, f postFlags, caption string) error {
	server, err := f.caller.connect(cmd)
	if err != nil {
		return err
	}
	defer server.Close()
	ctx, cancel := context.WithTimeout(cmd.Context(), feedWait)
	defer cancel()
	post, err := server.CreatePost(ctx, client.NewPost{Caption: caption, Tags: f.tags, Mentions: f.mentions, Audience: f.audience()})
	if err != nil {
		return err
	}
	if f.json {
		return cli.WriteJSON(cmd.OutOrStdout(), post)
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), post.ID)
	return err
}

// audience is nil for a post that everybody may see.
func (f postFlags) audience() *client.Audience {
	if !f.followers && len(f.circles) == 0 && len(f.mentions) == 0 {
		return nil
	}
	return &client.Audience{Followers: f.followers, Circles: f.circles}
}
