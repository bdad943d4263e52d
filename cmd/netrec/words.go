package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"netrec/analyze/engine"
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

// parseTime reads a time such as 5m. A number alone is in seconds.
func parseTime(s string) (time.Duration, error) {
	n, err := strconv.ParseInt(s, 10, 32)
	d := time.Duration(n) * time.Second
	if err != nil {
		d, err = time.ParseDuration(s)
	}
	if err != nil || d < 0 {
		return 0, errors.New("want seconds, or a time such as 10m or 1h")
	}
	return d, nil
}

// didYouMean is a hint with the nearest of the known words, "" if none is near.
func didYouMean(word string, known []string) string {
	if near := engine.Suggest(word, known); near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return ""
}
