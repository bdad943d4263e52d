// Package symbol turns addresses of stacks into names, on the host where they
// were taken.
//
// Kernel names come from /proc/kallsyms, read once. Names of user code come from
// the symbol tables of the files a process has mapped, seen through the root of
// that process, from the table that a Go program carries even when it is stripped,
// and from the perf map of a JIT compiler. What has no name is given as file, build id
// and address, by which a debug file names it later, or as the bare address.
//
// Every process on the host can feed this package: files, maps and names are
// untrusted. It reads regular files only, never through links that leave the
// process's root, never past fixed sizes, and waits for a slow file system no
// longer than Patience. All caches are bounded. It does not demangle, unwind, or
// read debug information.
//
// Start with LoadKernel, NewUser and New; Stacks.Stack is what events use, and
// User.Objects lists the files that frames were found in.
package symbol
