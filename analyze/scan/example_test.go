package scan_test

import (
	"fmt"
	"log"

	"netrec/analyze/scan"
)

// Read a recording row by row: who connected to port 9, and how did it end? Only the row groups
// and columns that the query names are read.
func Example() {
	f, err := scan.Open("../../cmd/netrec/sample.parquet", scan.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	for _, problem := range f.Meta().Problems {
		log.Print(problem) // killed, damaged, or not the whole recording
	}

	var cols scan.Columns
	comm, raddr, rport := cols.Ask("comm"), cols.Ask("raddr"), cols.Ask("rport")
	from, to := cols.Ask("old_state"), cols.Ask("new_state")
	query := scan.Query{Events: []string{"tcp_state"}, Columns: cols.All()}
	err = f.Scan(query, func(r *scan.Row) error {
		if r.Int(rport) == 9 && r.Str(from) == "SYN_SENT" {
			fmt.Printf("%s to %s:%d: %s\n", r.Str(comm), r.Str(raddr), r.Int(rport), r.Str(to))
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// netrec to 127.0.0.1:9: CLOSE
	// netrec to 127.0.0.1:9: CLOSE
	// netrec to 127.0.0.1:9: CLOSE
}
