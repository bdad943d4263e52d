package vmtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// guestSlots is how many guests run side by side on one machine, over all
// processes: two emulated guests are what two cores carry.
const guestSlots = 2

// lockPoll is how often a waiting process looks whether a lock became free.
const lockPoll = 50 * time.Millisecond

// CacheDir is where kernels and the root image are kept: NETREC_CACHE, or
// netrec/kernels in the user's cache folder. It can be deleted at any time
// when no guest runs.
func CacheDir() (string, error) {
	if dir := os.Getenv("NETREC_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the kernel cache (set NETREC_CACHE): %w", err)
	}
	return filepath.Join(base, "netrec", "kernels"), nil
}

// makeCache is CacheDir, created.
func makeCache() (string, error) {
	dir, err := CacheDir()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("creating the kernel cache: %w", err)
	}
	return dir, nil
}

// acquire takes the first free lock among the named files in dir, waiting
// until one is free or ctx ends. The kernel releases it when the process dies.
func acquire(ctx context.Context, dir string, names ...string) (release func(), err error) {
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for {
		for _, name := range names {
			f, err := tryLock(filepath.Join(dir, name))
			if err != nil {
				return nil, err
			}
			if f != nil {
				return func() { f.Close() }, nil
			}
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for a lock in %s: %w", dir, ctx.Err())
		case <-tick.C:
		}
	}
}

// tryLock gives nil without an error when another process holds the lock.
func tryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening a lock: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return nil, nil
	}
	return nil, fmt.Errorf("locking %s: %w", path, err)
}

// acquireSlot waits until this machine may run one more guest.
func acquireSlot(ctx context.Context, cache string) (func(), error) {
	names := make([]string, guestSlots)
	for i := range names {
		names[i] = fmt.Sprintf("guest-%d.lock", i)
	}
	return acquire(ctx, cache, names...)
}

// build makes the folder cache/name with fill, once over all processes: fill
// works in a scratch folder that takes the name only when it is complete. Its
// own lock lets different folders be built side by side.
func build(ctx context.Context, cache, name string, fill func(dir string) error) (string, error) {
	final := filepath.Join(cache, name)
	if isDir(final) {
		return final, nil
	}
	release, err := acquire(ctx, cache, name+".lock")
	if err != nil {
		return "", err
	}
	defer release()
	if isDir(final) {
		return final, nil
	}
	scratch := final + ".partial"
	if err := os.RemoveAll(scratch); err != nil {
		return "", fmt.Errorf("clearing an interrupted build: %w", err)
	}
	if err := os.MkdirAll(scratch, 0o755); err != nil {
		return "", fmt.Errorf("creating a build folder: %w", err)
	}
	if err := fill(scratch); err != nil {
		os.RemoveAll(scratch)
		return "", err
	}
	if err := os.Rename(scratch, final); err != nil {
		return "", fmt.Errorf("publishing %s in the cache: %w", name, err)
	}
	return final, nil
}

func isDir(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}
