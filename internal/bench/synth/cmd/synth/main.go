// Command synth writes a synthetic capture: see netrec/internal/bench/synth.
package main

import (
	"flag"
	"fmt"
	"os"

	"netrec/internal/bench/synth"
)

func main() {
	out := flag.String("o", "synth.parquet", "file to write; one that exists is replaced")
	rows := flag.Int64("n", 10_000_000, "events, at least")
	seed := flag.Uint64("seed", 1, "the same seed gives the same events")
	flag.Parse()
	n, err := synth.Write(*out, synth.Options{Rows: *rows, Seed: *seed})
	if err != nil {
		fmt.Fprintln(os.Stderr, "synth:", err)
		os.Exit(1)
	}
	fmt.Printf("%s: %d events\n", *out, n)
}
