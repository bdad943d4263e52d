// Package incidents stages things that go wrong on a network, each with a known cause, and holds
// what findings say about a recording of them against that cause. Healthy loads must give nothing.
//
// Two network namespaces play this host and its peer. A wire of user space joins them, two TUN
// devices and a goroutine for each direction, which may lose, delay, reorder and forge packets: so
// it runs on kernels without netem too. Only this host is recorded, as a user would, with the
// default profile.
//
// It owns the table of incidents and refuses to know how rules judge. Start with All in table.go.
package incidents
