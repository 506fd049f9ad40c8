package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/freshet/freshet/bench/quality"
	"github.com/freshet/freshet/configs"
)

// qualityFlags are the flags of --quality.
type qualityFlags struct {
	on          bool
	from, until string
	window      string
	count       string
	half        string
	also        []string
}

func (f *qualityFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.on, "quality", false, "measure rankings on real readers instead: ITEMS EVENTS…, a file of items and files of what was read")
	flags.StringVar(&f.from, "from", "", "with --quality: measure from this time on, as 2016-06-01 or 2016-06-01T12:00, in UTC")
	flags.StringVar(&f.until, "until", "", "with --quality: measure until this time")
	flags.StringVar(&f.window, "window", "7d", "with --quality: how old an item may be to be shown, such as 7d or 36h")
	flags.StringVar(&f.count, "count-readers", "", "with --quality: only the readers in this file count, one a line, or those of a file of events")
	flags.StringVar(&f.half, "half", string(quality.All), "with --quality: only this half of the readers counts: even, to choose by; odd, to report; all")
	flags.StringArrayVar(&f.also, "also", nil, "with --quality: measure one more ranking, as changes to the default such as scale=72h,weight=0.2; may be repeated")
}

// options returns the options of the measurement; errors name the invalid flag.
func (f *qualityFlags) options(cfg configs.Config) (o quality.Options, err error) {
	o.Config, o.Also = cfg, f.also
	var errs [4]error
	o.From, errs[0] = parseTime("--from", f.from)
	o.Until, errs[1] = parseTime("--until", f.until)
	o.Window, errs[2] = parseWindow(f.window)
	o.Half, errs[3] = quality.ParseHalf(f.half)
	if err := errors.Join(errs[:]...); err != nil {
		return o, err
	}
	return o, o.WithDefaults().Validate()
}

func parseTime(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%s: write 2016-06-01, 2016-06-01T12:00 or 2016-06-01T12:00:00+02:00, not %q", flag, text)
}

// parseWindow parses a number of days, which time.ParseDuration does not support, or a duration.
func parseWindow(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil && n > 0 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	} else if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d, nil
	}
	return 0, fmt.Errorf("--window: write a number of days or a duration, such as 7d or 36h, not %q", text)
}

func runQuality(cmd *cobra.Command, cfg configs.Config, f benchFlags, args []string) error {
	o, err := f.quality.options(cfg)
	if err != nil {
		return usageError{err}
	}
	o.Progress = cmd.ErrOrStderr()
	if f.quality.count != "" {
		if o.Count, err = quality.LoadReaders(f.quality.count); err != nil {
			return fmt.Errorf("--count-readers: %w", err)
		}
	}
	data, err := quality.Load(args[0], args[1:]...)
	if err != nil {
		return err
	}
	report, err := quality.Measure(cmd.Context(), data, o)
	if err != nil {
		return err
	}
	return writeReport(cmd, report, f.json)
}

// qualityArgs checks the files given to --quality.
func qualityArgs(args []string) error {
	if len(args) < 2 {
		return usageError{errors.New("--quality takes a file of items and one or more of events: freshet-bench --quality ITEMS EVENTS")}
	}
	for _, path := range args {
		if _, err := os.Stat(path); err != nil {
			return usageError{err}
		}
	}
	return nil
}
