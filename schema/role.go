package schema

// Says is what the rows of an event say about their socket, beside its cookie.
type Says uint8

// What rows say. An event that declares nothing says its ends if it has columns for them.
const (
	SaysNothing Says = iota
	SaysEnds         // the address pair
	SaysState        // a change of state
	SaysConnect      // somebody connects a stream
	SaysPeer         // somebody connects a datagram socket
	SaysAccept       // somebody accepts the connection
	SaysClose        // somebody closes a descriptor
	SaysIO           // somebody sends or receives
	SaysMade         // socket(2)
	SaysBind         // bind(2)
	SaysGone         // nothing of the socket follows but the return of close(2)
)

// Descriptor is what the rows of an event say about descriptors.
type Descriptor uint8

// What rows say. An event that declares nothing names one if it has the column fd.
const (
	NoDescriptor      Descriptor = iota
	NamesDescriptor              // fd leads to the row's socket
	OpensDescriptor              // socket, socketpair
	AcceptsDescriptor            // ret leads to the row's socket, fd to the listener
	CopiesDescriptor             // dup, fork
	ClosesDescriptor
	PassesDescriptor // a message carries a descriptor, or one was taken out of it
	EndsFile         // nothing leads to the socket any more
)

// Identity is how much depends on an event for who a socket is.
type Identity uint8

// An analysis of sockets reads both, and says so where the first are missing.
const (
	NoIdentity Identity = iota
	Identifies          // says who a socket is; none of them is frequent
	Helps               // makes lives of sockets surer: those of sockets without states, and owners before anything is sent
)

// EventsThat are the names of the events that a condition holds for, in the order of Events.
func EventsThat(is func(*Event) bool) []string {
	var names []string
	for i := range Events {
		if is(&Events[i]) {
			names = append(names, Events[i].Name)
		}
	}
	return names
}

// completeRoles fills in what follows from the columns of an event.
func (e *Event) completeRoles() {
	for _, f := range e.fields {
		switch name := Columns[f.Column].Name; {
		case name == "lport" && e.Says == SaysNothing && !e.Stranger:
			e.Says = SaysEnds
		case name == "fd" && e.Descriptor == NoDescriptor:
			e.Descriptor = NamesDescriptor
		}
	}
}
