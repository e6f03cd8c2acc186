"""Ports for services that tests start. A port that was merely free a moment ago is not safe while other tests run: another test can take it, and so can any
outgoing connection of the host, whose port the kernel chooses. Those given here lie below what the kernel chooses from, and are kept for this process by
the mark that `zbs quickstart` sets, too (client/cli/zones/loopback_port.cpp)."""
import random
import socket

FIRST = 10_000
_marks = []  # kept until the process ends


def _end():
    try:
        with open("/proc/sys/net/ipv4/ip_local_port_range") as f:
            return max(FIRST + 1_000, min(32_768, int(f.read().split()[0])))
    except OSError:
        return 32_768


def _mark(port):
    """A socket whose name says that the port is somebody's; None where another process has it."""
    mark = socket.socket(socket.AF_UNIX)
    try:
        mark.bind(f"\0zbs-port-{port}")
        return mark
    except OSError:
        mark.close()
        return None


def _is_free(port, address):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as services do: who has left the port blocks nobody
        try:
            probe.bind((address, port))
            return True
        except OSError:
            return False


def free_ports(count, address="127.0.0.1"):
    """The first of `count` ports in a row that nobody listens on at `address`, for this process until it ends."""
    for _ in range(10_000):
        first = random.randrange(FIRST, _end() - count)
        marks = [_mark(port) for port in range(first, first + count)]
        if all(marks) and all(_is_free(port, address) for port in range(first, first + count)):
            _marks.extend(marks)
            return first
        for mark in filter(None, marks):
            mark.close()
    raise AssertionError(f"no {count} free ports in a row")


def free_port(address="127.0.0.1"):
    return free_ports(1, address)
