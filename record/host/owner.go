package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"netrec/schema"
)

// Limits of the search for owners: processes, their descriptors, and owners kept
// of one socket (servers share a listener among hundreds of workers).
const (
	maxPids   = 131_072
	maxFiles  = 4_000_000
	maxOwners = 16
)

// eachPid calls f for every process until it returns false.
func eachPid(ctx context.Context, f func(pid int) bool) error {
	d, err := os.Open("/proc")
	if err != nil {
		return err
	}
	defer d.Close()
	for seen := 0; seen < maxPids; {
		names, err := d.Readdirnames(512)
		if len(names) == 0 {
			return nil // the end, or a /proc that cannot be read further
		}
		for _, name := range names {
			pid, err := strconv.Atoi(name)
			if err != nil {
				continue
			}
			seen++
			if !f(pid) {
				return nil
			}
		}
		if err != nil {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Own fills in the owners of the sockets found. Where ctx has a deadline, those that were found
// by then.
func (r *Report) Own(ctx context.Context) error {
	found, err := FindOwners(ctx, r.inodes())
	if errors.Is(err, context.DeadlineExceeded) {
		r.warn("owners of sockets: not all processes were looked at, the start took too long")
	} else if err != nil {
		return fmt.Errorf("find owners of sockets: %w", err)
	}
	r.take(found.Owners)
	if found.Hidden > 0 {
		r.warn("descriptors of %d processes cannot be read, their sockets have no owner (needs CAP_SYS_PTRACE)", found.Hidden)
	}
	if found.files >= maxFiles {
		r.warn("owners of sockets: stopped after %d descriptors", maxFiles)
	}
	return nil
}

// inodes are those of the sockets that somebody may own.
func (r *Report) inodes() (list []uint32) {
	for i := range r.Sockets {
		if n := r.Sockets[i].Inode; n != 0 { // 0: closed by its owner, or not accepted yet
			list = append(list, n)
		}
	}
	return list
}

func (r *Report) take(owners map[uint32][]schema.Owner) {
	for i := range r.Sockets { // an MPTCP socket and its first TCP socket share the inode
		r.Sockets[i].Owners = owners[r.Sockets[i].Inode]
	}
}

// Found is who owns sockets, by inode.
type Found struct {
	Owners map[uint32][]schema.Owner
	Hidden int // processes whose descriptors cannot be read
	files  int
}

// FindOwners looks for the owners of sockets in one pass over all descriptors.
func FindOwners(ctx context.Context, inodes []uint32) (Found, error) {
	f := Found{Owners: make(map[uint32][]schema.Owner, len(inodes))}
	for _, n := range inodes {
		f.Owners[n] = nil
	}
	if len(inodes) == 0 {
		return f, nil
	}
	err := eachPid(ctx, func(pid int) bool {
		if !owned(pid, f.Owners, &f.files) {
			f.Hidden++
		}
		return f.files < maxFiles
	})
	waits(f.Owners)
	return f, err
}

// owned looks through the descriptors of one process for the sockets that are keys
// of byInode; false if that was refused.
func owned(pid int, byInode map[uint32][]schema.Owner, files *int) bool {
	dir := "/proc/" + strconv.Itoa(pid)
	d, err := os.Open(dir + "/fd")
	if err != nil {
		return !os.IsPermission(err)
	}
	defer d.Close()
	comm, cgroup := "", ""
	for *files < maxFiles {
		names, err := d.Readdirnames(1024)
		*files += len(names)
		for _, name := range names {
			inode, ok := linkInode(dir+"/fd/"+name, "socket:[")
			if !ok {
				continue
			}
			owners, ok := byInode[inode]
			if !ok || len(owners) >= maxOwners {
				continue
			}
			if comm == "" {
				comm, cgroup = firstLine(dir+"/comm"), cgroupOf(dir)
			}
			fd, _ := strconv.Atoi(name)
			byInode[inode] = append(owners, schema.Owner{Pid: pid, Comm: comm, Cgroup: cgroup, FD: fd})
		}
		if err != nil || len(names) == 0 {
			break
		}
	}
	return true
}
