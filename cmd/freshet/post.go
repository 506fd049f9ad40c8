package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/client"
)

type postFlags struct {
	*call
	post    client.NewPost
	visible client.Audience
	images  []string
	alts    []string
}

func newPostCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "post [CAPTION]",
		Short: "Publish a post",
		Long: "Publishes a post as an app would, and prints its id. Without a flag that says otherwise everybody\n" +
			"may see it; with --mention alone, only the mentioned agents. A post with images needs no caption.",
		Example: "  freshet post --agent u_1 'Snow on the pass #ski'\n  freshet post --agent u_1 --followers 'Only for you'\n" +
			"  freshet post --agent u_1 --image lake.jpg --alt 'A lake at dawn'",
		Args: cobra.MaximumNArgs(1),
	}
	f := &postFlags{call: newAgentCall(cmd, "publishes")}
	cmd.Flags().BoolVar(&f.visible.Followers, "followers", false, "only followers may see it")
	cmd.Flags().StringSliceVar(&f.visible.Circles, "circle", nil, "id of a circle of the agent's that may see it; may be given several times")
	cmd.Flags().StringSliceVar(&f.post.Mentions, "mention", nil, "id of an agent who may see it in any case; may be given several times")
	cmd.Flags().StringSliceVar(&f.post.Tags, "tag", nil, "tag in addition to the caption's hashtags; may be given several times")
	cmd.Flags().StringArrayVar(&f.images, "image", nil, "file of an image (JPEG, PNG, GIF, WebP); may be given several times")
	cmd.Flags().StringArrayVar(&f.alts, "alt", nil, "alternative text of the image at the same position; may be given several times")
	cmd.Flags().BoolVar(f.json, "json", false, "print the post as JSON")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 && len(f.images) == 0 {
			return errors.New("give a caption, or an image with --image")
		}
		f.post.Caption = strings.Join(args, "")
		return f.publish()
	}
	return cmd
}

func (f *postFlags) publish() error {
	if len(f.alts) > len(f.images) {
		return fmt.Errorf("%d --alt but %d --image flags: give one --alt per image", len(f.alts), len(f.images))
	}
	for i, path := range f.images {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		image := client.NewImage{Data: data}
		if i < len(f.alts) {
			image.Alt = f.alts[i]
		}
		f.post.Images = append(f.post.Images, image)
	}
	if f.visible.Followers || len(f.visible.Circles) > 0 || len(f.post.Mentions) > 0 { // otherwise everyone may see it
		f.post.Audience = &f.visible
	}
	return show(f.call, func(ctx context.Context, c *client.Client) (client.Post, error) { return c.CreatePost(ctx, f.post) },
		func(w io.Writer, p client.Post) error {
			_, err := fmt.Fprintln(w, p.ID)
			return err
		})
}

func newFollowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "follow AUTHOR...",
		Short:   "Follow or unfollow authors",
		Long:    "Makes an agent follow authors. The author @server means every public post.",
		Example: "  freshet follow --agent u_1 ana.costa freya.costa\n  freshet follow --agent u_1 --end ana.costa",
		Args:    cobra.MinimumNArgs(1),
	}
	r := newAgentCall(cmd, "follows")
	end := cmd.Flags().Bool("end", false, "unfollow them")
	cmd.RunE = func(_ *cobra.Command, authors []string) error {
		if *r.caller == "" {
			return r.usage(errors.New("--agent is required, and --token too for a server in jwt mode"))
		}
		return r.each(authors, "", func(ctx context.Context, c *client.Client, author string) (string, error) {
			change, done, before := c.Follow, "follows %s", "followed %s already"
			if *end {
				change, done, before = c.Unfollow, "no longer follows %s", "did not follow %s"
			}
			changed, err := change(ctx, *r.caller, author)
			if !changed {
				done = before
			}
			return fmt.Sprintf(*r.caller+" "+done, author), err
		})
	}
	return cmd
}
