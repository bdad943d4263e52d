package main

import "testing"

// Sections go where they were, or behind the one before them, and nothing else changes.
func TestRenewed(t *testing.T) {
	const (
		title, rest  = "# Title\n\ntext\n\n", "## One event\n\nrest\n"
		old, servers = "## Busy servers\n\n| a | old |\n\n", "## Busy servers\n\n| a | none |\n\n"
		latency      = "## Latency\n\n| b |\n\n"
	)
	for _, c := range []struct{ page, out, want string }{
		{title + old + rest, "# Other\n" + servers, title + servers + rest},
		{title + rest, servers, title + servers + rest},
		{title + old + rest, latency, title + latency + old + rest},
		{title + old + rest, servers + latency, title + servers + latency + rest},
		{title + old + latency, servers, title + servers + latency},
	} {
		if got := renewed(c.page, c.out); got != c.want {
			t.Errorf("%q renewed by %q is %q, want %q", c.page, c.out, got, c.want)
		}
	}
}
