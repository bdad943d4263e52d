package host

import (
	"context"
	"net"
	"os"
	"testing"

	"netrec/schema"
)

// A socket that was made since is found, with its owner; one that is gone is not; those
// of namespaces that cannot be asked stay as they were.
func TestAliveNow(t *testing.T) {
	a := &Alive{}
	defer a.Close()
	a.hold(1)
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	port := ln.Addr().(*net.TCPAddr).Port
	before := []schema.Socket{{Netns: 1, Cookie: 1 << 60, Lport: 9}, {Netns: 2, Cookie: 7, Lport: 10}}
	now, old := a.Read(before, func(inodes []uint32) map[uint32][]schema.Owner {
		found, _ := FindOwners(context.Background(), inodes)
		return found.Owners
	})
	at := map[int]*schema.Socket{}
	for i := range now {
		at[now[i].Lport] = &now[i]
	}
	s := at[port]
	if s == nil || s.State != "LISTEN" || s.Netns != 1 || len(s.Owners) != 1 || s.Owners[0].Pid != os.Getpid() {
		t.Fatalf("the new socket: %+v", s)
	}
	if at[9] != nil || at[10] == nil || old != 1 {
		t.Errorf("gone %v, of another namespace %v, %d of those", at[9], at[10], old)
	}
}
