package datadir

import (
	"path/filepath"
	"strings"
	"syscall"
)

// MountAdvice says what to do about a place that this process may not write to, although its user may.
const MountAdvice = "the file system is read-only for this process: in a container mount a volume there, in a unit of systemd with ProtectSystem=strict add the folder to ReadWritePaths="

// OrMount returns the advice, unless err means that the file system is read-only. Some errors keep only
// their text.
func OrMount(advice string, err error) string {
	if strings.Contains(err.Error(), syscall.EROFS.Error()) {
		return MountAdvice
	}
	return advice
}

// Absolute returns the whole path of a directory that the settings name: a relative one depends on where
// the process was started.
func Absolute(dir string) string {
	whole, err := filepath.Abs(dir)
	if err != nil {
		return dir
	}
	return whole
}
