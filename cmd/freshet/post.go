package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

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
	images    []string
	alts      []string
	json      bool
}

func newPostCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "post [CAPTION]",
		Short: "Publish a post",
		Long: "Publishes a post as an app would, and prints its id. Without a flag that says otherwise everybody\n" +
			"may see it; with --mention alone, only who is mentioned. A post with images needs no caption.",
		Example: "  freshet post --agent u_1 'Snow on the pass #ski'\n  freshet post --agent u_1 --followers 'Only for you'\n" +
			"  freshet post --agent u_1 --image lake.jpg --alt 'A lake at dawn'",
		Args: cobra.MaximumNArgs(1),
	}
	f := postFlags{caller: addCallerFlags(cmd, "publishes")}
	cmd.Flags().BoolVar(&f.followers, "followers", false, "only followers may see it")
	cmd.Flags().StringSliceVar(&f.circles, "circle", nil, "id of a circle of the agent's that may see it; may be given several times")
	cmd.Flags().StringSliceVar(&f.mentions, "mention", nil, "id of an agent who may see it in any case; may be given several times")
	cmd.Flags().StringSliceVar(&f.tags, "tag", nil, "tag beside the caption's hashtags; may be given several times")
	cmd.Flags().StringArrayVar(&f.images, "image", nil, "file of an image (JPEG, PNG, GIF, WebP); may be given several times")
	cmd.Flags().StringArrayVar(&f.alts, "alt", nil, "what can be seen on the image of the same place; may be given several times")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the post as JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 && len(f.images) == 0 {
			return errors.New("give a caption, or an image with --image")
		}
		return publish(cmd, f, strings.Join(args, ""))
	}
	return cmd
}

// files reads the images.
func (f postFlags) files() ([]client.NewImage, error) {
	if len(f.alts) > len(f.images) {
		return nil, fmt.Errorf("%d times --alt for %d times --image", len(f.alts), len(f.images))
	}
	var list []client.NewImage
	for i, path := range f.images {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		image := client.NewImage{Data: data}
		if i < len(f.alts) {
			image.Alt = f.alts[i]
		}
		list = append(list, image)
	}
	return list, nil
}

func publish(cmd *cobra.Command, f postFlags, caption string) error {
	images, err := f.files()
	if err != nil {
		return err
	}
	return f.caller.do(cmd, func(ctx context.Context, c *client.Client) error {
		post, err := c.CreatePost(ctx, client.NewPost{
			Caption: caption, Tags: f.tags, Mentions: f.mentions, Audience: f.audience(), Images: images,
		})
		if err != nil {
			return err
		}
		if f.json {
			return cli.WriteJSON(cmd.OutOrStdout(), post)
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), post.ID)
		return err
	})
}

// audience is nil for a post that everybody may see.
func (f postFlags) audience() *client.Audience {
	if !f.followers && len(f.circles) == 0 && len(f.mentions) == 0 {
		return nil
	}
	return &client.Audience{Followers: f.followers, Circles: f.circles}
}
