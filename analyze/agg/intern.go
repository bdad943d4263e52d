package agg

import "strings"

// maxInterned bounds the strings an Intern keeps.
const maxInterned = 1 << 16

// Intern gives equal strings one copy of their own, so that a name kept for long
// does not hold the page of the file it was read from.
type Intern struct{ m map[string]string }

// Get is the kept copy of s.
func (n *Intern) Get(s string) string {
	if s == "" {
		return ""
	}
	if k, ok := n.m[s]; ok {
		return k
	}
	if n.m == nil || len(n.m) >= maxInterned {
		n.m = map[string]string{}
	}
	k := strings.Clone(s)
	n.m[k] = k
	return k
}
