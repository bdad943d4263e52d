package engine_test

import (
	"fmt"
	"log"
	"os"

	"netrec/analyze"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// Run two analyses over a recording in one pass, as netrec analyze does.
func Example() {
	f, err := scan.Open("../../cmd/netrec/sample.parquet", scan.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()

	sel, err := engine.NewSelection(f.Meta(), map[string]string{"port": "9"})
	if err != nil {
		log.Fatal(err)
	}
	calls := []engine.Call{
		{Analysis: analyze.Find("tcpconncount"), Options: map[string]string{"by": "comm,rport"}},
		{Analysis: analyze.Find("udpcalls"), Options: map[string]string{"by": "comm,rport"}},
	}
	// What limits an answer goes to the last writer.
	out, err := render.NewOutput("csv", render.Bpftrace, os.Stdout, os.Stderr)
	if err != nil {
		log.Fatal(err)
	}
	outcomes, err := engine.Run(f, calls, sel, out)
	if err != nil {
		log.Fatal(err)
	}
	if err := out.Close(); err != nil {
		log.Fatal(err)
	}
	for _, o := range outcomes {
		fmt.Println(o.Name, o.Status == engine.Answered, o.Rows)
	}
	// Output:
	// comm,rport,count
	// netrec,9,3
	//
	// comm,rport,count
	// netrec,9,11
	// tcpconncount true 1
	// udpcalls true 1
}

// Parse reads the words of a command line: files, analyses, and the options of each.
func ExampleParse() {
	req, err := engine.Parse(analyze.All(), analyze.Find("overview"), []string{"cap.parquet", "tcplife", "--wide", "--port", "443"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(req.Files, req.Calls[0].Analysis.Name, req.Calls[0].Options, req.Options)

	_, err = engine.Parse(analyze.All(), analyze.Find("overview"), []string{"cap.parquet", "tcplive"})
	fmt.Println(err)
	// Output:
	// [cap.parquet] tcplife map[wide:true] map[port:443]
	// no analysis "tcplive"
}
