// Package perfring reads messages of the kernel's perf events: which files are mapped, which
// programs are started. They gather in a ring per CPU, and cost nothing until they happen.
//
// It owns the ring. It refuses to know what the messages say.
//
// Start with Open and Ring.Each.
package perfring
