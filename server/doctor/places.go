package doctor

import (
	"path/filepath"

	"github.com/freshet/freshet/server/datadir"
	"github.com/freshet/freshet/server/erasures"
	"github.com/freshet/freshet/server/rlimit"
)

// checkErasures tries to write where servers note who was erased.
func (d *doctor) checkErasures() {
	const what = "erasures.file"
	file := d.cfg.Erasures.File
	if file == "" {
		return
	}
	if err := erasures.Try(file); err != nil {
		d.report(Broken, what, orSpace("name a file in a folder that the user of the server may write to", err), "%v", err)
		return
	}
	d.report(OK, what, "", "%s can be written", datadir.Absolute(file))
	d.reportFleeting(what, datadir.Absolute(filepath.Dir(file)))
}

// reportFleeting reports a directory of a setting that is in the layer of a container, or in memory.
func (d *doctor) reportFleeting(setting, dir string) {
	kind := datadir.Fleeting(dir)
	if kind != "" {
		d.report(Warning, setting, datadir.FleetingAdvice, "%s %s (%s)", dir, datadir.FleetingRisk, kind)
	}
}

// checkOpenFiles warns about a low limit of open files. It is that of this process, which the servers share if
// they are started in the same way.
func (d *doctor) checkOpenFiles() {
	limit := rlimit.Limit()
	if limit > 0 && limit < rlimit.Enough {
		d.report(Warning, "open files", rlimit.Advice, "this process may open %d: %s", limit, rlimit.Risk)
	}
}
