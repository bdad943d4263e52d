package hook

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"

	"netrec/record/priv"
	"netrec/schema"
)

// denied says what would open a perf event, on which tracepoints of system calls, kprobes
// and probes in libraries rest, where the kernel says no more than EACCES.
func denied(kind schema.Kind, err error) error {
	var file *fs.PathError
	if !errors.Is(err, syscall.EACCES) || errors.As(err, &file) || administrates() {
		return short(err)
	}
	switch n := priv.Paranoid(); {
	case kind == schema.Uprobe || kind == schema.Uretprobe:
		return errors.New("needs CAP_SYS_ADMIN")
	case n > 0 && kind != schema.RawTP && kind != schema.Fentry && kind != schema.Fexit:
		return fmt.Errorf("kernel.perf_event_paranoid is %d: needs 2, or CAP_SYS_ADMIN", n)
	}
	return short(err)
}

// administrates reports whether this process has CAP_SYS_ADMIN, so that it cannot be the want of it.
func administrates() bool {
	lacks, err := priv.Lacks()
	return err != nil || !slices.ContainsFunc(lacks, func(l priv.Lack) bool { return l.Cap == priv.SysAdmin })
}
