package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/cmd/freshet/cli"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/server/doctor"
)

func newDoctorCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "doctor", Short: "Check every dependency and suggest fixes"}
	var options doctor.Options
	cmd.Flags().BoolVar(&options.Fix, "fix", false, "create what is missing: directories and indices")
	cmd.Flags().BoolVar(&options.Accept, "accept-settings", false, "make these settings the ones of all servers over the same stores; then restart each server")
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	return withConfig(cmd, func(cmd *cobra.Command, cfg configs.Config) error {
		options.Log = newLogger(cmd.ErrOrStderr(), cfg.Log.Format, levelOf(cfg.Log))
		findings := doctor.Check(cmd.Context(), cfg, options)
		if err := printFindings(cmd.OutOrStdout(), findings, *asJSON); err != nil {
			return err
		}
		for _, f := range findings {
			if f.Level == doctor.Broken {
				return errors.New("the check found problems; see above")
			}
		}
		return nil
	})
}

// inCell escapes tabs and line ends as Go does. Unescaped they would end the cell, and a secret
// that contains one would no longer be masked.
var inCell = strings.NewReplacer("\t", `\t`, "\n", `\n`, "\r", `\r`, "\v", `\v`, "\f", `\f`)

func printFindings(w io.Writer, findings []doctor.Finding, asJSON bool) error {
	if asJSON {
		return cli.WriteJSON(w, findings)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range findings {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", f.Level, inCell.Replace(f.What), inCell.Replace(f.Detail))
		if f.Fix != "" {
			_, _ = fmt.Fprintf(table, "\t\t→ %s\n", f.Fix)
		}
	}
	return table.Flush()
}
