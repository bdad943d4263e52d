package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// parseBytes reads a size such as 64M; "" is 0.
func parseBytes(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	digits := strings.TrimRight(s, "kKmMgGiIbB")
	shift := map[string]int{"": 0, "K": 10, "M": 20, "G": 30}
	unit := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(s[len(digits):]), "B"), "I")
	n, err := strconv.ParseInt(digits, 10, 64)
	by, ok := shift[unit]
	if err != nil || !ok || n <= 0 || n > 1<<40>>by {
		return 0, errors.New("want a size such as 512K, 64M or 1G")
	}
	return n << by, nil
}

// didYouMean is a hint with the nearest of the known words, "" if none is near.
func didYouMean(word string, known []string) string {
	best, near := "", 3
	for _, k := range known {
		if d := distance(word, k); d < near {
			best, near = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %s?", best)
}

// distance is how many characters must be added, removed or changed.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
