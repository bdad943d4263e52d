package rig

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Crowd is how many programs share a CPU of this machine, at least one: by so much do things
// take longer than on one without other work.
func Crowd() float64 { return crowd(loadOf("/proc/loadavg"), runtime.NumCPU()) }

func crowd(load float64, cpus int) float64 {
	const most = 20 // beyond that it is not the crowd
	return min(most, max(1, load/float64(cpus)))
}

// loadOf is the mean number of programs that wanted a CPU in the last minute, 0 if unknown.
func loadOf(path string) float64 {
	b, _ := os.ReadFile(path)
	first, _, _ := strings.Cut(string(b), " ")
	load, _ := strconv.ParseFloat(first, 64)
	return load
}
