package hook

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

// tracefsDirs are the places where tracefs usually is; the first is the one that
// the kernel makes for it.
var tracefsDirs = []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}

func findTracefs() string {
	for _, dir := range tracefsDirs {
		if _, err := os.Stat(filepath.Join(dir, "events/syscalls")); err == nil {
			return dir
		}
	}
	return ""
}

// noTracefs says why tracefs cannot be used.
func noTracefs() error {
	for _, dir := range tracefsDirs {
		if _, err := os.Stat(filepath.Join(dir, "events")); errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("%s is for root alone: needs CAP_DAC_READ_SEARCH", dir)
		}
	}
	return errors.New("tracefs is not mounted and could not be")
}

// withTracefs runs f with tracefs mounted. Where the host has not mounted it, f runs
// on a thread with a mount namespace of its own, so that the host is left as it is.
func withTracefs(f func() error) error {
	if findTracefs() != "" {
		return f()
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with its namespace
		if err := mountPrivately(); err != nil {
			runtime.UnlockOSThread()
		}
		done <- f() // without the mount, the hooks that need it say so
	}()
	return <-done
}

func mountPrivately() error {
	if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("unshare mounts: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("tracefs", tracefsDirs[0], "tracefs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount tracefs: %w", err)
	}
	return nil
}
