// Package story tells what happened to a socket, line by line and in words.
//
// A Teller reads rows; rows of frequent events that follow each other become one line.
// What becomes of the lines is the caller's business.
//
// Start with Teller.
package story
