// Package eventtext makes recordings out of readable text, for tests and
// benchmarks of analyses.
//
// One line is one row: the time after the start, the event, then column=value.
//
//	+1.5ms tcp_state sock=0xffff888012345678 pid=7 comm=curl old_state=CLOSE new_state=SYN_SENT
//
// conn=10.0.0.1:40000>10.0.0.2:80 fills the six columns of an address pair, and *12
// repeats the row twelve times, a nanosecond apart; skb=0xffff888100000000+0x100 gives each
// of them another address, so many bytes further. Values with blanks or escapes
// are quoted as in Go. Columns that are not named are NULL, or 0 where the file
// never has NULL; ctx is task.
//
// It reads no file and accepts no text from outside the repository.
//
// Start with Parse.
package eventtext
