// Package demo makes traffic of every kind in the network namespace it runs in, so
// that a recording of it has something to show in every answer.
//
// It only ever talks to 127.0.0.1 and ::1, stops by itself, and is run by
// netrec demo in a namespace made for it. Start with Traffic.
package demo
