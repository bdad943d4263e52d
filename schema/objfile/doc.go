// Package objfile reads what a file of code says about itself: where it is loaded,
// which build it is, and where its functions are.
//
// Both sides need it alike: the recorder names frames on the host, and analyze names
// later, from debug files, what had no name there. An address in a file means the same
// to both.
//
// Files are untrusted. Every size is compared with fixed limits and with the length of
// the file before anything is allocated, which debug/elf does not do for names and
// symbols. That is why ELF is read by hand: a library of 1 MB whose 1,024 names overlap
// costs the recorder's start 94 MiB at most, and 1.1 GiB before there were limits. It
// reads no debug information, and no code for other machines than little-endian ones.
//
// Start with Open, or Read for all at once.
package objfile
