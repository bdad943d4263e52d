"""Known traffic with odd counts, by threads called agree, on ports 18000 to 18999.

Every call ends before the process does, so that tools which look at the beginning of
a call and tools which look at its end see the same.
"""
import os
import select
import socket
import struct
import subprocess
import threading
import time

LO4, LO6 = "127.0.0.1", "::1"
IP_FREEBIND, IP_BIND_ADDRESS_NO_PORT = 15, 24


def stream(family, address, port, backlog, connections, sizes):
    """A server that reads every connection to its end, and a client; sizes per connection."""
    s = socket.socket(family, socket.SOCK_STREAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((address, port))
    s.listen(backlog)

    def accept():
        for _ in range(connections):
            c, _ = s.accept()
            while c.recv(65536):
                pass
            c.close()

    t = threading.Thread(target=accept)
    t.start()
    for n in range(connections):
        with socket.create_connection((address, port)) as c:
            for size in sizes(n):
                c.sendall(b"x" * size)
    t.join()
    s.close()


def datagrams(family, address, port, count, connected):
    """Questions and answers, one after the other."""
    s = socket.socket(family, socket.SOCK_DGRAM)
    s.bind((address, port))
    u = socket.socket(family, socket.SOCK_DGRAM)
    if connected:
        u.connect((address, port))
    for n in range(count):
        data = b"z" * (1 + 37 * n)
        if connected:
            u.send(data)
        else:
            u.sendto(data, (address, port))
        data, peer = s.recvfrom(65536)
        s.sendto(data, peer)
        u.recv(65536)
    u.close()
    s.close()


def fails(address, timeout=None, family=socket.AF_INET):
    """A connect that does not come to anything."""
    s = socket.socket(family, socket.SOCK_STREAM)
    s.settimeout(timeout)
    try:
        s.connect(address)
    except OSError:
        pass
    s.close()


def backlog():
    """Four clients that nobody has accepted yet."""
    s = socket.socket()
    s.setsockopt(socket.SOL_IP, IP_FREEBIND, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo")
    s.bind((LO4, 18005))
    s.listen(5)
    clients = [socket.create_connection((LO4, 18005)) for _ in range(4)]
    for c in clients:
        a, _ = s.accept()
        a.close()
        c.close()
    s.close()


def waiting():
    """Connects that a poll completes, with one and with two descriptors."""
    s = socket.socket()
    s.setsockopt(socket.SOL_IP, socket.IP_TRANSPARENT, 1)
    s.setsockopt(socket.SOL_IP, IP_BIND_ADDRESS_NO_PORT, 1)
    s.bind((LO4, 18006))
    s.listen(3)
    for n in range(3):
        c = socket.socket()
        c.setblocking(False)
        c.connect_ex((LO4, 18006))
        p = select.poll()
        p.register(c, select.POLLOUT)
        if n == 2:
            p.register(s, select.POLLIN)
        p.poll(5000)
        a, _ = s.accept()
        a.close()
        c.close()
    s.close()


def passing():
    """Three descriptors in two messages over a UNIX socket."""
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    for fds in ((0, 1), (2,)):
        a.sendmsg([b"m"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("%di" % len(fds), *fds))])
        _, control, _, _ = b.recvmsg(64, 256)
        for _, _, data in control:
            for fd in struct.unpack("%di" % (len(data) // 4), data):
                os.close(fd)
    a.close()
    b.close()


def marked():
    """Datagrams that carry the mark for congestion from the start."""
    s, u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind((LO4, 18007))
    u.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 3)
    for _ in range(5):
        u.sendto(b"e", (LO4, 18007))
        s.recv(10)
    u.close()
    s.close()


def shaped():
    """Datagrams into a queue that lets them out later."""
    u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for n in range(17):
        u.sendto(b"q" * (100 + n), ("203.0.113.1", 18008))
    time.sleep(1)
    u.close()


def main():
    with open("/proc/self/comm", "w") as f:
        f.write("agree")
    stream(socket.AF_INET, LO4, 18001, 7, 7, lambda n: [1 << (2 * k) for k in range(n + 1)])
    stream(socket.AF_INET6, LO6, 18002, 11, 5, lambda n: [3000])
    datagrams(socket.AF_INET, LO4, 18003, 13, True)
    datagrams(socket.AF_INET6, LO6, 18004, 3, False)
    backlog()
    waiting()
    passing()
    marked()
    shaped()
    for _ in range(3):
        fails((LO4, 18099))
    for _ in range(5):
        fails("/nowhere", family=socket.AF_UNIX)
    fails(("192.0.2.1", 18098), 4)  # nobody there: the SYN goes out again
    fails(("198.51.100.1", 18097), 2)  # a queue that drops all
    for n in range(3):
        try:
            socket.getaddrinfo("agree%d.invalid" % n, 80)
        except OSError:
            pass
    for command in (["ping", "-q", "-c", "5", "-i", "0.2", LO4], ["ping", "-q", "-c", "3", "-i", "0.2", LO6]):
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    with open("/dev/ttyS0", "wb", buffering=0) as f:  # interrupts that nothing else causes
        for n in range(7):
            f.write(b"agree %d\r\n" % n)


main()
