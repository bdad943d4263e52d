"""Known traffic with odd counts, all on ports 18000 to 18999."""
import socket
import threading


def serve(family, address, port, backlog):
    s = socket.socket(family, socket.SOCK_STREAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((address, port))
    s.listen(backlog)

    def accept():
        while True:
            c, _ = s.accept()
            while c.recv(65536):
                pass
            c.close()

    threading.Thread(target=accept, daemon=True).start()


def answer(family, address, port):
    s = socket.socket(family, socket.SOCK_DGRAM)
    s.bind((address, port))

    def echo():
        while True:
            data, peer = s.recvfrom(65536)
            s.sendto(data, peer)

    threading.Thread(target=echo, daemon=True).start()


serve(socket.AF_INET, "127.0.0.1", 18001, 7)
serve(socket.AF_INET6, "::1", 18002, 11)
answer(socket.AF_INET, "127.0.0.1", 18003)
answer(socket.AF_INET6, "::1", 18004)
for n in range(7):
    with socket.create_connection(("127.0.0.1", 18001)) as c:
        for size in range(n + 1):
            c.sendall(b"x" * (1 << (2 * size)))
for n in range(5):
    with socket.create_connection(("::1", 18002)) as c:
        c.sendall(b"y" * 3000)
for n in range(3):
    try:
        socket.create_connection(("127.0.0.1", 18099))
    except OSError:
        pass
for family, address, port, count in ((socket.AF_INET, "127.0.0.1", 18003, 13), (socket.AF_INET6, "::1", 18004, 3)):
    with socket.socket(family, socket.SOCK_DGRAM) as u:
        u.connect((address, port))
        for n in range(count):
            u.send(b"z" * (n + 1))
            u.recv(65536)
try:
    socket.create_connection(("192.0.2.1", 18098), timeout=4)  # nobody there: the SYN goes out again
except OSError:
    pass
for n in range(3):
    try:
        socket.getaddrinfo("agree%d.invalid" % n, 80)
    except OSError:
        pass
