// Command netrec records what the Linux network stack does and answers questions
// about it later, on another machine.
//
// The package turns flags into options, errors into one line and a hint, and
// results into exit codes. Whatever it decides beyond that is in the wrong place.
package main
