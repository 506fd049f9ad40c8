package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// MountAdvice says what to do about a place that this process may not write to, although its user may.
const MountAdvice = "the file system is read-only for this process: in a container mount a volume there, in a unit of systemd with ProtectSystem=strict add the folder to ReadWritePaths="

// OrMount returns the advice, unless err means that the file system is read-only, or that another user owns the
// place. Some errors keep only their text.
func OrMount(advice string, err error) string {
	if strings.Contains(err.Error(), syscall.EROFS.Error()) {
		return MountAdvice
	}
	owned := ownerAdvice(err)
	if owned != "" {
		return owned
	}
	return advice
}

// ownerAdvice says whose the folder is in which this process may not do what failed; "" if err has no path, or
// another cause than an owner.
func ownerAdvice(err error) string {
	var of *fs.PathError
	if !errors.As(err, &of) || !errors.Is(err, fs.ErrPermission) {
		return ""
	}
	for dir := filepath.Dir(Absolute(of.Path)); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
			continue
		}
		if err != nil {
			return ""
		}
		owner, ok := info.Sys().(*syscall.Stat_t)
		if !ok || int(owner.Uid) == os.Getuid() {
			return ""
		}
		return fmt.Sprintf("%s belongs to user %d (%v), and this process runs as user %d: give it that folder (chown -R %[4]d %[1]s; in a container, of the volume), or name another one",
			dir, owner.Uid, info.Mode().Perm(), os.Getuid())
	}
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
