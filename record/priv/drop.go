package priv

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/psx"
)

// nobody is the uid and gid that own nothing; also the kernel's overflow id.
const nobody = 65534

// Identity is the user and group that the recorder becomes.
type Identity struct{ UID, GID int }

// ownUser is the user that the packages make for the recorder. As nobody it would share an
// identity with whatever else runs as nobody, and could be stopped by it.
const ownUser = "netrec"

// passwd is where users are listed.
const passwd = "/etc/passwd"

// Target is who Drop will become instead of root: the user behind sudo, else the recorder's
// own where the host has one, else nobody; the process's own user and group where it was not
// started by root. The user is never 0.
func Target() Identity {
	return target(os.Getuid(), os.Getgid(), os.Getenv("SUDO_UID"), os.Getenv("SUDO_GID"), passwd)
}

func target(uid, gid int, sudoUID, sudoGID, users string) Identity {
	if uid != 0 {
		return Identity{uid, gid}
	}
	id := own(users)
	if n, ok := parseID(sudoUID); ok {
		id = Identity{n, nobody}
		if n, ok := parseID(sudoGID); ok {
			id.GID = n
		}
	}
	return id
}

// own is the recorder's own user, or nobody.
func own(users string) Identity {
	b, err := os.ReadFile(users)
	if err != nil {
		return Identity{nobody, nobody}
	}
	for line := range strings.Lines(string(b)) { // name:password:uid:gid:…
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) < 4 || f[0] != ownUser {
			continue
		}
		uid, ok := parseID(f[2])
		gid, ok2 := parseID(f[3])
		if ok && ok2 {
			return Identity{uid, gid}
		}
	}
	return Identity{nobody, nobody}
}

// parseID accepts any id but 0 and the one that means none.
func parseID(s string) (int, bool) {
	n, err := strconv.ParseUint(s, 10, 32)
	return int(n), err == nil && n != 0 && n != 1<<32-1
}

// everyPrctl is prctl(2) on all threads of the process, unused arguments zero as it demands.
func everyPrctl(option, arg uintptr) error {
	if _, _, errno := psx.Syscall6(unix.SYS_PRCTL, option, arg, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// Renounce gives up the capabilities that a file or a service lends to a user other than root,
// for commands that need none: else whoever may start them reads with them what is not his.
func Renounce() error {
	if os.Geteuid() == 0 {
		return nil
	}
	d, err := held()
	if err != nil || d.permitted() == 0 {
		return err
	}
	none := exactly(0)
	if err := setAll(&none); err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	return nil
}

// Drop gives up every privilege but the capabilities to keep, on all threads and
// for good: the ids become those of Target, supplementary groups, inheritable,
// ambient and bounding sets are emptied, no_new_privs is set, and the process can
// be neither traced nor dumped by its new user. A capability that it did not have is
// not kept either. Files, mappings and BPF links already open stay usable; bpf(2)
// itself, reading a map included, does not on kernels before 5.19 unless CAP_BPF is
// kept.
//
// An error means that the process may still be privileged, and must end.
func Drop(keep ...Cap) error { return Become(Target(), keep...) }

// Become is Drop for an identity of the caller's choice; root without capabilities is
// one who may write where root's files are, and nothing else.
func Become(id Identity, keep ...Cap) error {
	d, err := held()
	if err != nil {
		return fmt.Errorf("drop privileges: %w", err)
	}
	want := setOf(keep...) & d.permitted()
	clearsBounding := d.effective().has(setpcap)
	if err := drop(id, want, clearsBounding); err != nil {
		return fmt.Errorf("drop privileges: %w", err)
	}
	if err := verify(expectation{id, want, clearsBounding}); err != nil {
		return fmt.Errorf("drop privileges: %w", err)
	}
	return nil
}

func drop(id Identity, want capSet, clearBounding bool) error {
	if clearBounding {
		if err := emptyBounding(); err != nil {
			return err
		}
	}
	// Without it the change of uid would empty the permitted set.
	if err := everyPrctl(unix.PR_SET_KEEPCAPS, 1); err != nil {
		return fmt.Errorf("keep capabilities: %w", err)
	}
	if err := everyPrctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL); err != nil {
		return fmt.Errorf("clear ambient capabilities: %w", err)
	}
	if err := becomes(id); err != nil {
		return err
	}
	data := exactly(want)
	if err := setAll(&data); err != nil {
		return fmt.Errorf("set capabilities: %w", err)
	}
	if err := everyPrctl(unix.PR_SET_KEEPCAPS, 0); err != nil {
		return fmt.Errorf("unkeep capabilities: %w", err)
	}
	if err := everyPrctl(unix.PR_SET_NO_NEW_PRIVS, 1); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("become undumpable: %w", err)
	}
	return nil
}

func emptyBounding() error {
	b, err := os.ReadFile("/proc/sys/kernel/cap_last_cap")
	if err != nil {
		return err
	}
	last, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 6)
	if err != nil {
		return fmt.Errorf("number of capabilities: %w", err)
	}
	for c := range Cap(last) + 1 {
		if err := everyPrctl(unix.PR_CAPBSET_DROP, uintptr(c)); err != nil {
			return fmt.Errorf("take %v from the bounding set: %w", c, err)
		}
	}
	return nil
}

// becomes changes ids; the calls of package syscall act on all threads. A process
// that is neither root nor allowed to change groups keeps those it has.
func becomes(id Identity) error {
	groups, err := syscall.Getgroups()
	if err != nil {
		return fmt.Errorf("read groups: %w", err)
	}
	if err := syscall.Setgroups(nil); err != nil && len(groups) > 0 && os.Geteuid() == 0 {
		return fmt.Errorf("leave supplementary groups: %w", err)
	}
	if err := syscall.Setresgid(id.GID, id.GID, id.GID); err != nil {
		return fmt.Errorf("become group %d: %w", id.GID, err)
	}
	if err := syscall.Setresuid(id.UID, id.UID, id.UID); err != nil {
		return fmt.Errorf("become user %d: %w", id.UID, err)
	}
	return nil
}
