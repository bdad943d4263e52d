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
	var c struct { // a field is named after its column
		Rport                           scan.Int
		Comm, Raddr, OldState, NewState scan.Str
	}
	cols.MustBind(&c)
	query := scan.Query{Events: []string{"tcp_state"}, Columns: cols.All()}
	err = f.Scan(query, func(r *scan.Row) error {
		if r.Int(c.Rport) == 9 && r.Str(c.OldState) == "SYN_SENT" {
			fmt.Printf("%s to %s:%d: %s\n", r.Str(c.Comm), r.Str(c.Raddr), r.Int(c.Rport), r.Str(c.NewState))
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
