package rig

import (
	"fmt"
	"time"
)

// patience is how long tests wait for what must come: machines that others share are slow
// without bound, and one that is not pays nothing for it.
const patience = 5 * time.Minute

// Until returns once it is done; what names it in the error.
func Until(what string, done func() bool) error {
	for deadline := time.Now().Add(patience); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("waited %s until %s", patience, what)
		}
	}
	return nil
}
