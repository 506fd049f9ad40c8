package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// LockDir makes this process the only user of the directory until the file is
// closed: the file is opened without sharing, so no other process can open it.
func LockDir(dir string) (*os.File, error) {
	path := filepath.Join(dir, LockName)
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, fmt.Errorf("lock the directory: %w", err)
	}
	handle, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: %s (%w)", errLocked, dir, err)
	}
	return os.NewFile(uintptr(handle), path), nil
}
