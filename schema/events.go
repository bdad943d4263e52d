package schema

// Events is every kind of row, in the order in which columns appear in the file.
var Events = []Event{
	meta, lost, cost,
	tcpState, tcpRcvEst, tcpRetrans, tcpWriteXmit,
	sockIO,
	sockStack,
	sockRcvqueueFull, sockExceedBufLimit, sockError,
	sysConnect, sysAccept, sysClose,
	sysBind, sysListen, sysSocket,
	sysPoll, sysEpollCtl,
	fdDup, scmFD, vfsRW,
	sysRead, sysWrite,
	skbAlloc, skbConsume, skbDrop,
	dnsCall,
	devQueue, devStartXmit, devXmit, devGROIn, devRecv,
	softirq, irq,
	skbFree, skbDerive,
	qdiscEnq, qdiscDeq, qdiscDrop,
	cpuSample,
	wifiScan, wifiChannel,
	funcCount, tpCount,
	tcpSynackRetrans, tcpReset, tcpCongState, tcpSynArrive, tcpSynRecv, tcpAcceptFn, tcpConnectFn, tcpTLP, tcpMsg,
	udpConnect, udpMsg, udpGone,
	ipECN, icmpEcho,
}
