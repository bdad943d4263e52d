#!/bin/sh
# Follows the blocks of a page, /host/page/NAME, on a Debian machine: commands as an ordinary
# user with sudo, text of a unit as systemctl edit puts it, which itself wants a terminal.
# After each it tells how the service is and what it recorded of a connection; at the end it
# stops all, starts all again, as a boot does, and removes the package.
ncat -lk 127.0.0.1 443 --sh-exec 'printf "HTTP/1.0 200 OK\r\n\r\nhello"' >/dev/null 2>&1 &
ip link set lo up
install -d -o user /home/user && cp /host/*.deb /home/user && cd /home/user || exit

# said is what the recorder that runs now has written.
said() { journalctl -o cat "_SYSTEMD_INVOCATION_ID=$(systemctl show -P InvocationID netrec)"; }

look() {
	echo "is: $(systemctl is-enabled netrec 2>&1) $(systemctl is-active netrec)"
	systemctl is-active -q netrec || return
	echo "runs: $(tr '\0' ' ' <"/proc/$(systemctl show -P MainPID netrec)/cmdline")"
	said | sed 's/^/said: /'
	curl -s -o /dev/null http://127.0.0.1:443/
	sleep 2 # a row is on the disk within a second
	newest=$(find /var/lib/netrec/ -name '*.parquet' | sort | tail -1)
	for name in tcplife soconnect; do
		netrec analyze "$newest" $name -f csv 2>/dev/null | grep curl | sed "s/^/$name: /"
	done
}

for block in /host/page/*; do
	echo "step: ${block##*/}"
	case $block in
	*.ini) install -D -m 644 "$block" /etc/systemd/system/netrec.service.d/override.conf && systemctl daemon-reload ;;
	*) su user -c "sh -e $block" ;;
	esac
	echo "exit: $?"
	look
done

echo 'step: boot'
printf '[Unit]\nRequires=sysinit.target\nAllowIsolate=yes\n' >/run/systemd/system/halfway.target
systemctl daemon-reload && systemctl isolate halfway.target
while [ "$(systemctl is-active netrec)" = deactivating ]; do sleep 0.5; done
echo "between: $(systemctl is-active netrec)"
systemctl isolate multi-user.target
look
systemd-analyze security netrec | tail -1
systemctl stop netrec
systemctl show -P Result netrec | sed 's/^/result: /'
netrec analyze /var/lib/netrec tcplife -f csv | grep -c curl | sed 's/^/recorded in all: /'

echo 'step: remove'
apt-get remove -q -y netrec
echo "exit: $?"
find /var/lib/netrec/ -name '*.parquet' | wc -l | sed 's/^/kept: /'
apt-get purge -q -y netrec
echo "exit: $?"
echo "left: $(find /var/lib /etc/systemd/system/*.wants -name 'netrec*')."
