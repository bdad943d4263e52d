// Package proc opens files of other processes, as those processes name them, without
// trusting them: below the process's own root, following no link out of it, and
// nothing but regular files, since opening a device or FIFO can have effects.
//
// It reads no contents; what a file says is for its callers to doubt.
//
// Start with Below for a path and Link for a link of /proc.
package proc
