package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"netrec/schema"
)

// headBusy is the heading of the table of real servers.
const headBusy = "Busy servers"

// Columns of that table that are told again.
const (
	colLoad = iota
	colTool
	colThroughput
	colByCPU    = 4
	colCPU      = 5
	colResident = 8
	colLost     = 11
)

// busy is a cell of the table of real servers, "" where it has none.
func (p *page) busy(load, tool string, col int) string {
	for _, r := range p.tables[headBusy][0] {
		if r[colLoad] == load && r[colTool] == tool && col < len(r) {
			return r[col]
		}
	}
	return ""
}

// busyLoads are the loads that were measured, in the order of the table.
func (p *page) busyLoads() (loads []string) {
	for _, r := range p.tables[headBusy][0] {
		if r[colTool] == "none" {
			loads = append(loads, r[colLoad])
		}
	}
	return loads
}

// busyWorst is the load that keeps the least of its throughput under the profile default.
func (p *page) busyWorst() string {
	return slices.MinFunc(p.busyLoads(), func(a, b string) int {
		return cmp.Compare(p.busyPercent(a, schema.Default), p.busyPercent(b, schema.Default))
	})
}

// kept is what a load keeps of its throughput under a profile: the lesser of what was measured and of what
// follows from CPU time, since servers and clients alone may leave a part of the CPUs idle.
func (p *page) kept(load string, profile schema.Profile) float64 {
	least := 1.0
	for _, column := range []int{colThroughput, colByCPU} {
		if kept, err := strconv.ParseFloat(p.busy(load, string(profile), column), 64); err == nil {
			least = min(least, kept)
		}
	}
	return least
}

// busyPercent is the same in percent.
func (p *page) busyPercent(load string, profile schema.Profile) int {
	return int(math.Round(100 * p.kept(load, profile)))
}

// busyKept is what a load keeps of its throughput, a line.
func (p *page) busyKept(load string) string {
	return fmt.Sprintf("- **Throughput kept**: %d %% with the profile `default`, %d %% with `light`.\n",
		p.busyPercent(load, schema.Default), p.busyPercent(load, schema.Light))
}

// busyRecorder is what the recorder itself takes under the profile default, a line.
func (p *page) busyRecorder(load string) string {
	return fmt.Sprintf("- **Recorder**: %s of one CPU and %s MiB of memory, with `default`.\n",
		p.busy(load, string(schema.Default), colCPU), p.busy(load, string(schema.Default), colResident))
}

// busyLost says under which loads the profile default lost events, "" if under none.
func (p *page) busyLost() string {
	var loads []string
	for _, load := range p.busyLoads() {
		if n := p.busy(load, string(schema.Default), colLost); n != "" && n != "0" {
			loads = append(loads, load)
		}
	}
	if len(loads) == 0 {
		return ""
	}
	return "; some, all counted, with `default` under " + strings.Join(loads, " and ")
}

// busyHelp is a profile's line in the help of netrec record.
func (p *page) busyHelp(profile schema.Profile) string {
	var of []string
	for _, load := range p.busyLoads() {
		of = append(of, fmt.Sprintf("%s %.2f", load, p.kept(load, profile)))
	}
	const indent = "\n           "
	return "throughput kept by a saturated host: " + strings.Join(of, ";"+indent)
}
