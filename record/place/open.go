package place

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"netrec/record/priv"
)

// Open makes ready what a plan needs to be followed after privileges are given up. A
// directory that it makes belongs to the user behind sudo, or to root.
//
// Started by root, files are made by a keeper: as the user behind sudo, if that user may,
// else as the owner of the directory, so that no capture ends up with nobody.
func Open(p Plan) (Files, error) {
	user := priv.Target()
	sudo := os.Geteuid() == 0 && os.Getenv("SUDO_UID") != ""
	dir, err := p.make(func(f *os.File) error {
		if sudo {
			return f.Chown(user.UID, user.GID)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	owner, may, err := access(dir, user)
	if err != nil {
		dir.Close()
		return nil, fmt.Errorf("open the place for captures: %w", err)
	}
	if os.Geteuid() != 0 || p.First > 0 && sudo && may { // whom the recorder becomes may do it
		return &local{Plan: p, dir: dir, now: time.Now}, nil
	}
	defer dir.Close()
	if sudo && may {
		owner = user
	}
	k, err := startKeeper(p, dir, owner)
	if err != nil {
		return nil, err
	}
	return k, nil
}

// access says who owns a directory and whether a user may make files there.
func access(dir *os.File, user priv.Identity) (owner priv.Identity, may bool, err error) {
	st, err := dir.Stat()
	if err != nil {
		return owner, false, err
	}
	sys := st.Sys().(*syscall.Stat_t) // on Linux it is
	owner = priv.Identity{UID: int(sys.Uid), GID: int(sys.Gid)}
	const wx = 0o3
	mode := st.Mode().Perm()
	switch {
	case owner.UID == user.UID:
		may = mode>>6&wx == wx
	case owner.GID == user.GID:
		may = mode>>3&wx == wx
	default:
		may = mode&wx == wx
	}
	return owner, may, nil
}
