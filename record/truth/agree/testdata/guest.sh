# Runs in the guest: all tools and the recorder watch, then the traffic comes.
mkdir -p /host/out
ip link set lo up
ip link add sink type dummy && ip addr add 192.0.2.9/24 dev sink && ip link set sink up
ip neigh add 192.0.2.1 lladdr 02:00:00:00:00:01 dev sink
pids=
for tool in $WATCH; do
	stdbuf -oL "$tool" >"/host/out/$tool.txt" 2>"/host/out/$tool.err" &
	pids="$pids $!"
done
bpftrace -f json -o /host/out/bpftrace.json /host/watch.bt 2>/host/out/bpftrace.err &
pids="$pids $!"
./netrec record --profile full --buffer 128M --ready-file /tmp/ready -q -o /host/out/cap.parquet 2>/host/out/netrec.err &
recorder=$!
while [ ! -e /tmp/ready ]; do sleep 1; done
sleep "${SETTLE:-40}"
python3 /host/traffic.py
sleep 3
kill -INT $recorder $pids
wait
