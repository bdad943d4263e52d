package schema_test

import (
	"fmt"

	"netrec/schema"
)

// What an event is, and the columns that it fills beside those of every event.
func Example() {
	e := schema.ByName("sys_listen")
	fmt.Printf("%s: %s\n", e.Name, e.Doc)
	for _, f := range e.Fields() {
		if c := schema.Columns[f.Column]; !c.Required {
			fmt.Println(" ", c.Name, c.Type)
		}
	}
	// Output:
	// sys_listen: listen(2) returned
	//   cgroup STRING
	//   laddr STRING
	//   raddr STRING
	//   lport INT32
	//   rport INT32
	//   family STRING
	//   cookie INT64
	//   protocol STRING
	//   ret INT64
	//   sock_type STRING
	//   dur_ns INT64
	//   fd INT32
	//   backlog INT32
	//   sk_max_ack_backlog INT64
}

// What a column means, in which unit, and which events fill it.
func ExampleColumnIndex() {
	c := schema.Columns[schema.ColumnIndex("srtt_us")]
	fmt.Printf("%s %s: %s, %s\n", c.Name, c.Type, c.Doc, c.Unit)
	fmt.Println(c.Events)
	// Output:
	// srtt_us INT32: smoothed round trip time, us
	// [tcp_state tcp_rcv_est]
}
