package prove

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Provide gives an adapter its place, and removes it.
type Provide func(ctx context.Context, a Adapter, dir string) (p Place, s Services, remove func(context.Context) error, err error)

// All judges adapters one after the other. A failure of one is an error; one that lacks something is
// skipped. With an error, the report has the columns so far.
func All(ctx context.Context, o Options, adapters []Adapter, provide Provide, progress io.Writer) (*Report, error) {
	report := &Report{Time: time.Now().UTC().Truncate(time.Second), Machine: machine(), Options: o}
	temp, err := os.MkdirTemp("", "freshet-prove-")
	if err != nil {
		return report, err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	for _, a := range adapters {
		fmt.Fprintf(progress, "%s\n", a.Name)
		column, err := one(ctx, o, a, filepath.Join(temp, a.Name), provide, progress)
		if err != nil {
			return report, err
		}
		report.Columns = append(report.Columns, column)
	}
	return report, nil
}

func one(ctx context.Context, o Options, a Adapter, dir string, provide Provide, progress io.Writer) (column Column, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return column, err
	}
	place, services, remove, err := provide(ctx, a, dir)
	if err != nil {
		return column, fmt.Errorf("%s: %w", a.Name, err)
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		failed := remove(ending)
		if err == nil {
			err = failed
		}
	}()
	if a.Needs != nil {
		why := a.Needs(place)
		if why != "" {
			return Column{Adapter: a.Name, About: a.About, Skipped: why}, nil
		}
	}
	return Run(ctx, o, a, place, services, progress)
}

// machine describes this machine in a line.
func machine() string {
	model := ""
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		name, value, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(name) == "model name" {
			model = ", " + strings.TrimSpace(value)
			break
		}
	}
	load, _ := os.ReadFile("/proc/loadavg")
	return fmt.Sprintf("%d cores%s, %s/%s, load average %.14s", runtime.NumCPU(), model, runtime.GOOS, runtime.GOARCH, load)
}
