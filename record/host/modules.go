package host

import (
	"bufio"
	"io"
	"os"
	"strings"
)

// QdiscModules lists the kernel's loaded modules that have queueing disciplines, none if it
// does not say. It takes no privilege.
func QdiscModules() map[string]bool {
	f, err := os.Open("/proc/modules")
	if err != nil {
		return nil
	}
	defer f.Close()
	return qdiscModules(f)
}

// maxModules bounds what is read; Linux has some forty of these.
const maxModules = 256

func qdiscModules(r io.Reader) map[string]bool {
	found := map[string]bool{}
	for s := bufio.NewScanner(r); s.Scan() && len(found) < maxModules; {
		if name, _, _ := strings.Cut(s.Text(), " "); strings.HasPrefix(name, "sch_") {
			found[name] = true
		}
	}
	return found
}
