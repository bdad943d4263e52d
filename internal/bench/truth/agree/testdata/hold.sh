# What bpftrace starts once all its probes are attached: says so, and lives as long as the traffic.
>"/tmp/attached.$1"
while [ ! -e /tmp/over ]; do sleep 0.3; done
