package record

import (
	"fmt"

	"netrec/record/priv"
)

// lacking says what the recording will not have for want of a capability.
func lacking() []string {
	lacks, err := priv.Lacks()
	if err != nil {
		return []string{fmt.Sprintf("what the recorder may not do is not known: %v", err)}
	}
	var out []string
	for _, l := range lacks {
		out = append(out, fmt.Sprintf("without %v: no %s", l.Cap, l.Loses))
	}
	return out
}
