// Package record makes capture files: it chooses and attaches hooks, drains their
// rings, and commits what they saw to a file, with an exact account of what was
// lost on the way.
//
// It owns the pace of the recorder, its memory bounds and its privileges. It refuses
// meaning: no row is joined, counted into a histogram or left out because of what
// it says; that is done offline, by package analyze.
//
// The way of an event through the package: hook (probes) → drain → pile → writer
// (encode, capture). A session has four parts (parts.go, outputs.go): the preparation, the loop, the
// files it writes, and the facts that they begin and end with. Start with Run.
package record
