package schema

// Events is every kind of row, in the order in which columns appear in the file.
var Events = []Event{
	meta, lost, cost,
	tcpState, tcpRcvEst, tcpRetrans, tcpWriteXmit,
	sockIO,
	sysConnect, sysAccept, sysClose,
	skbAlloc, skbConsume, skbDrop,
	dnsCall,
}
