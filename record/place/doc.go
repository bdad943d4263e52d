// Package place is where the files of a recording lie: how they are named by time, made
// so that nobody else's file is touched, and removed when there are too many.
//
// A file gets its name only once it is whole (Publish), so a directory of captures can
// be read at any moment, also after kill -9. It is locked while it is written, and what
// is locked is never removed. Every step goes by descriptors of directories and follows
// no symbolic link below the directory that the user named.
//
// The recorder gives its privileges up long before it needs the next file. Where it
// could not make one after that, a keeper does it: a process that belongs to the owner
// of the directory, has no capability, and can do nothing but what Files does.
//
// It refuses to know what is in a file. Start with Open and Files.
package place
