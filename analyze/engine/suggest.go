package engine

import "strings"

// Suggest is the name closest to a wrong one, "" if none is near.
func Suggest(wrong string, names []string) string {
	best, near := "", 3
	for _, n := range names {
		d := distance(wrong, n)
		if len(wrong) >= 3 && strings.HasPrefix(n, wrong) {
			d = 1
		}
		if d < near && d < len(n) {
			best, near = n, d
		}
	}
	return best
}

// distance is how many letters must be added, removed or changed, two swapped
// neighbours counting once.
func distance(a, b string) int {
	if len(a) > 64 {
		return len(a)
	}
	var before, row []int
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row = make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
