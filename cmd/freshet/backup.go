package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"text/tabwriter"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/server"
	"github.com/freshet/freshet/server/backup"
	"github.com/freshet/freshet/server/erasures"
)

func newBackupCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "backup DIR|s3://BUCKET/PREFIX", Short: "Copy all that servers store into a directory or a bucket, while they run",
		Long: "Copies what servers with this configuration store into a directory, or into a bucket of S3: the databases,\n" +
			"indices, impressions and images that the configuration names. Servers may run meanwhile. It needs no server:\n" +
			"run it where data_dir is, as a user who may read it.\n" +
			"The address of a bucket has the parameters of media.url (region, endpoint, use_path_style), and is quoted;\n" +
			"credentials are those of the environment (AWS_ACCESS_KEY_ID, ...), as for media.url.\n" +
			"With --encrypt-to, all that is about people is encrypted with age; freshet restore --identity decrypts it.\n" +
			"Run again with the same place, it replaces the backup once the new one is finished, and copies only\n" +
			"the images that are new. If it was interrupted, it continues.",
		Example: "  freshet backup /backups/freshet --config /etc/freshet/freshet.yaml\n" +
			"  freshet backup 's3://backups/freshet?region=eu-central-1' --encrypt-to-file /etc/freshet/backup.pub --config /etc/freshet/freshet.yaml",
	}
	var opts backup.Options
	to := cmd.Flags().StringArray("encrypt-to", nil, "encrypt to this recipient of age (age1...); may be repeated")
	toFiles := cmd.Flags().StringArray("encrypt-to-file", nil, "encrypt to the recipients of age in this file, one a line; may be repeated")
	rate := addRate(cmd)
	cmd.Flags().BoolVar(&opts.SkipImages, "skip-images", false, "leave out the images of posts, if media.url is copied otherwise")
	return withDir(cmd, func(cmd *cobra.Command, cfg configs.Config, dir string) error {
		var err error
		if opts.Rate, err = bytesOf(cmd, *rate); err != nil {
			return err
		}
		opts.EncryptTo, err = backup.ReadRecipients(*to, *toFiles)
		if err != nil {
			return &usageError{cmd.CommandPath(), err}
		}
		bar := newPartsBar(cmd.ErrOrStderr(), "copying")
		opts.Progress = bar.show
		opts.Notice = func(text string) { fmt.Fprintln(cmd.ErrOrStderr(), text) }
		m, err := backup.Make(cmd.Context(), cfg, dir, opts, time.Now)
		bar.end()
		if err != nil {
			return err
		}
		if err := printParts(cmd.OutOrStdout(), m); err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s has the backup %s\n", dir, m.ID)
		return err
	})
}

func newRestoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "restore DIR|s3://BUCKET/PREFIX", Short: "Restore a backup into empty stores, or compare stores with it",
		Long: "Restores what freshet backup has copied into the stores that the configuration names. All of them must be\n" +
			"empty, and no server may run. If it was interrupted, run it again: it continues.\n" +
			"With --verify it restores nothing: it compares the stores with the backup (rows, images, and the timelines\n" +
			"of 1,000 agents), and says what differs. Do that before a server starts, which changes them.\n" +
			"The exit code is 1 if something differs.\n" +
			"With --erased it restores nothing either: it erases again whom the files of erasures.file name, of all servers,\n" +
			"since the backup began. Do that after --verify and before a server starts.\n" +
			"A backup that is encrypted needs --identity, also for --verify.",
		Example: "  freshet restore /backups/freshet --config /etc/freshet/freshet.yaml\n  freshet restore --verify /backups/freshet --config /etc/freshet/freshet.yaml\n" +
			"  freshet restore --erased /backups/erased.ndjson /backups/freshet --config /etc/freshet/freshet.yaml",
	}
	rate := addRate(cmd)
	verify := cmd.Flags().Bool("verify", false, "restore nothing, compare the stores with the backup")
	identities := cmd.Flags().StringArray("identity", nil, "the file with an identity of age (AGE-SECRET-KEY-...) that decrypts the backup; may be repeated")
	erased := cmd.Flags().StringArray("erased", nil, "restore nothing, erase again whom this file of erasures.file names; may be repeated")
	return withDir(cmd, func(cmd *cobra.Command, cfg configs.Config, dir string) error {
		limit, err := bytesOf(cmd, *rate)
		if err != nil {
			return err
		}
		own, err := backup.ReadIdentities(*identities)
		if err != nil {
			return &usageError{cmd.CommandPath(), err}
		}
		switch {
		case len(own) > 0 && len(*erased) > 0:
			return &usageError{cmd.CommandPath(), errors.New("--erased needs no --identity; leave it out")}
		case limit > 0 && (*verify || len(*erased) > 0):
			return &usageError{cmd.CommandPath(), errors.New("--rate is for a restoration; leave it out with --verify and --erased")}
		case *verify && len(*erased) > 0:
			return &usageError{cmd.CommandPath(), errors.New("first --verify, then --erased: what is erased differs from the backup")}
		case *verify:
			return verifyBackup(cmd, cfg, dir, backup.Options{Identities: own})
		case len(*erased) > 0:
			return eraseAgain(cmd, cfg, dir, *erased)
		}
		bar := newPartsBar(cmd.ErrOrStderr(), "restoring")
		m, err := backup.Restore(cmd.Context(), cfg, dir, backup.Options{Rate: limit, Identities: own, Progress: bar.show})
		bar.end()
		if err != nil {
			return err
		}
		if err := printParts(cmd.OutOrStdout(), m); err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "the backup %s is restored\nbefore a server starts, compare it (--verify), and erase again who was erased since %s (--erased FILE)\n",
			m.ID, m.Started.Format(time.RFC3339))
		return err
	})
}

// eraseAgain erases whom files of erasures name since a backup began.
func eraseAgain(cmd *cobra.Command, cfg configs.Config, dir string, files []string) error {
	m, err := backup.ReadManifest(cmd.Context(), dir)
	if err != nil {
		return err
	}
	list, err := erasures.Read(files, m.Started.Add(-erasedBefore))
	if err != nil {
		return err
	}
	bar := newPartsBar(cmd.ErrOrStderr(), "erasing")
	log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelError}))
	err = server.EraseAgain(cmd.Context(), cfg, list, func(done int) { bar.show("agents", int64(done), int64(len(list))) }, server.WithLogger(log))
	bar.end()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d agents are erased again, of the erasures since %s\n", len(list), m.Started.Format(time.RFC3339))
	return err
}

// erasedBefore is how long before a backup began an erasure is still repeated: clocks of servers differ, and an
// erasure may have been going on.
const erasedBefore = 10 * time.Minute

func verifyBackup(cmd *cobra.Command, cfg configs.Config, dir string, opts backup.Options) error {
	bar := newPartsBar(cmd.ErrOrStderr(), "comparing")
	opts.Progress = bar.show
	found, err := backup.Verify(cmd.Context(), cfg, dir, opts)
	bar.end()
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "compared with the backup %s: %d rows, %d images, %d timelines\n", found.Manifest.ID, found.Rows, found.Images, found.Timelines)
	for _, text := range found.Differences {
		fmt.Fprintln(out, text)
	}
	if found.More > 0 {
		fmt.Fprintf(out, "and %d more\n", found.More)
	}
	if len(found.Differences) > 0 {
		return errors.New("the stores differ from the backup; if a server has used them since, that is why: empty and restore them again to compare")
	}
	return nil
}

// withDir is [withConfig] for commands with one argument, the directory or address of a backup.
func withDir(cmd *cobra.Command, run func(cmd *cobra.Command, cfg configs.Config, dir string) error) *cobra.Command {
	var dir string
	withConfig(cmd, func(cmd *cobra.Command, cfg configs.Config) error { return run(cmd, cfg, dir) })
	loaded := cmd.RunE
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) != 1 || args[0] == "" {
			return fmt.Errorf("give one directory, or one address s3://BUCKET/PREFIX, not %d", len(args))
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dir = args[0]
		return loaded(cmd, nil)
	}
	return cmd
}

// addRate adds the flag of a limit, in MiB per second.
func addRate(cmd *cobra.Command) *float64 {
	return cmd.Flags().Float64("rate", 0, "most MiB that are copied per second; without it there is no limit")
}

// bytesOf converts the flag to bytes per second.
func bytesOf(cmd *cobra.Command, rate float64) (int64, error) {
	const most = 1 << 20 // a TiB per second
	if cmd.Flags().Changed("rate") && !(rate >= 0.001 && rate <= most) {
		return 0, &usageError{cmd.CommandPath(), fmt.Errorf("--rate must be 0.001 to %d MiB per second, not %v", most, rate)}
	}
	return int64(rate * (1 << 20)), nil
}

func printParts(w io.Writer, m *backup.Manifest) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "part\tas of\tcount\tbytes")
	for _, p := range m.Parts {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%d\t%d\n", p.Name, p.Time.Format(time.RFC3339), p.Count, p.Bytes)
	}
	return table.Flush()
}

// partsBar shows the progress of one part after the other on a terminal.
type partsBar struct {
	w     io.Writer
	doing string
	part  string
	bar   *progressbar.ProgressBar
}

func newPartsBar(w io.Writer, doing string) *partsBar { return &partsBar{w: w, doing: doing} }

func (b *partsBar) show(part string, done, total int64) {
	if terminalWidth(b.w) == 0 {
		return
	}
	if total <= 0 {
		total = -1 // unknown
	}
	if b.bar == nil || b.part != part {
		b.end()
		b.part, b.bar = part, progress(b.w, total, b.doing+" "+part, progressbar.OptionShowCount())
	}
	if total > 0 && b.bar.GetMax64() != total {
		b.bar.ChangeMax64(total)
	}
	_ = b.bar.Set64(done)
}

func (b *partsBar) end() {
	if b.bar != nil {
		_ = b.bar.Finish()
		b.bar = nil
	}
}
