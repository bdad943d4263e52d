// Package priv keeps the recorder privileged for milliseconds only.
//
// It owns three things: saying which capabilities recording lacks (Need), giving
// up everything but the few that must stay once all hooks are attached (Drop), and
// starting the command under observation before that, so that it runs with the
// credentials the user had, but only when told (Start, Child.Release).
//
// It refuses to gain anything: no call raises a privilege. Drop reports an error
// unless every thread of the process, read back from the kernel, has no more than
// was to be kept; a caller must then end the process.
//
// Start with Need, Start and Drop, in that order; main calls Init first of all.
package priv
