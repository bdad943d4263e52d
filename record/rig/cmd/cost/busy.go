package main

import (
	"bytes"
	"fmt"
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
	colCPU      = 5
	colResident = 8
)

// busyTools are the columns of the table in the README.
var busyTools = []string{string(schema.Light), string(schema.Default), string(schema.Full), "perf record", "tcpdump"}

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

// busyTable is the README's: what of its throughput a server keeps.
func (p *page) busyTable() string {
	var b bytes.Buffer
	b.WriteString("| throughput kept | " + strings.Join(busyTools, " | ") + " |\n|---|" + strings.Repeat("---:|", len(busyTools)) + "\n")
	for _, load := range p.busyLoads() {
		b.WriteString("| " + load)
		for _, tool := range busyTools {
			b.WriteString(" | " + p.busy(load, tool, colThroughput))
		}
		b.WriteString(" |\n")
	}
	return b.String()
}

// busyRecorder tells what the recorder itself takes under the profile default.
func (p *page) busyRecorder() string {
	var of []string
	for _, load := range p.busyLoads() {
		of = append(of, fmt.Sprintf("%s and %s MiB (%s)", p.busy(load, string(schema.Default), colCPU), p.busy(load, string(schema.Default), colResident), load))
	}
	return "With the profile default the recorder itself took, of all CPUs and of memory: " + strings.Join(of, "; ") + "."
}

// busyHelp is a profile's line in the help of netrec record.
func (p *page) busyHelp(profile schema.Profile) string {
	var of []string
	for _, load := range p.busyLoads() {
		of = append(of, fmt.Sprintf("%s %s", load, p.busy(load, string(profile), colThroughput)))
	}
	const indent = "\n           "
	return "throughput kept by a saturated host: " + strings.Join(of, ";"+indent)
}
