"""Hosts of their own as network namespaces, joined by a user-space forwarder that loses, delays and cuts by a seed.

Each host has one TUN device, whose other end is held here; packets go from one to the other by their destination address. Needs root, or a user
namespace entered before, and /dev/net/tun; `why_not()` says what is missing. IPv4 only.
"""
import ctypes
import fcntl
import heapq
import os
import random
import select
import struct
import subprocess
import threading
import time

CLONE_NEWNET = 0x40000000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
DEVICE = "tun0"
LIBC = ctypes.CDLL(None, use_errno=True)


def why_not():
    """What hinders; empty where nothing does."""
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return "no /dev/net/tun"
    done = subprocess.run(["unshare", "-n", "ip", "link"], capture_output=True, text=True)
    return "" if done.returncode == 0 else f"'unshare -n ip link' fails: {done.stderr.strip()} (package iproute2)"


class Host:
    """A network namespace with `address`, held by a process that sleeps. With a `name` it has that host name, memory that it shares with
    nobody (IPC), and a /sys that shows its own devices: programs that look at these take it for a machine of its own."""

    def __init__(self, address, name=None):
        self.address = address
        first, kinds = "", ["-n"]
        if name is not None:
            first, kinds = f"mount -t sysfs sysfs /sys && hostname {name} && ", ["-n", "-m", "-u", "-i"]
        self.holder = subprocess.Popen(["unshare", *kinds, "sh", "-c", first + "echo ready; exec sleep 100000"], stdout=subprocess.PIPE)
        assert self.holder.stdout.readline() == b"ready\n", f"no namespaces ({' '.join(kinds)}) for {address}"
        self.enter = ["nsenter", "-t", str(self.holder.pid), *kinds]
        self.tun = self._open()
        for command in (["link", "set", "lo", "up"], ["addr", "add", f"{address}/24", "dev", DEVICE], ["link", "set", DEVICE, "up"]):
            subprocess.run([*self.enter, "ip", *command], check=True, timeout=20)

    def _open(self):
        """The other end of its device, opened by a thread that has entered the namespace."""
        opened = []

        def inside():
            try:
                self.join()
                tun = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
                fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH", DEVICE.encode(), IFF_TUN | IFF_NO_PI))
                opened.append(tun)
            except OSError as fault:
                opened.append(fault)
        thread = threading.Thread(target=inside)
        thread.start()
        thread.join()
        if isinstance(opened[0], OSError):
            raise opened[0]
        return opened[0]

    def join(self):
        """The calling thread, and all threads and processes that it starts from now on, are in this namespace."""
        namespace = os.open(f"/proc/{self.holder.pid}/ns/net", os.O_RDONLY)
        try:
            if LIBC.setns(namespace, CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns")
        finally:
            os.close(namespace)

    def processes(self):
        """What runs there, but for its holder."""
        here, found = os.stat(f"/proc/{self.holder.pid}/ns/net").st_ino, []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.stat(f"/proc/{pid}/ns/net").st_ino == here and int(pid) != self.holder.pid:
                    found.append(int(pid))
            except OSError:  # it has ended
                pass
        return found

    def close(self):
        os.close(self.tun)
        self.holder.kill()
        self.holder.wait()
        self.holder.stdout.close()


class LossyNetwork:
    """`hosts` by name. What goes from or to a name in `spared` is neither lost nor cut."""

    def __init__(self, names, seed, spared=()):
        self.random = random.Random(seed)
        self.hosts = {name: Host(f"10.77.0.{number + 1}") for number, name in enumerate(names)}
        self.spared = {self.hosts[name].address for name in spared}
        self.loss, self.delay_s, self.cut = 0.0, (0.0, 0.0), set()
        self.carried = self.lost = 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def partition(self, *names):
        """These hosts on one side, all others on the other; without names: reunion."""
        self.cut = {self.hosts[name].address for name in names}

    def _is_lost(self, source, target):
        if source in self.spared or target in self.spared:
            return False
        return bool(self.cut) and (source in self.cut) != (target in self.cut) or self.random.random() < self.loss

    def _run(self):
        tuns = {host.tun for host in self.hosts.values()}
        way = {host.address: host.tun for host in self.hosts.values()}
        waiting, number = [], 0
        while not self.over.is_set():
            patience = min(0.2, max(0, waiting[0][0] - time.monotonic())) if waiting else 0.2
            for tun in select.select(tuns, [], [], patience)[0]:
                packet = os.read(tun, 65536)
                if len(packet) < 20 or packet[0] >> 4 != 4:
                    continue
                source, target = (".".join(map(str, packet[at:at + 4])) for at in (12, 16))
                if target not in way:
                    continue
                if self._is_lost(source, target):
                    self.lost += 1
                    continue
                number += 1
                spared = source in self.spared or target in self.spared
                heapq.heappush(waiting, (time.monotonic() + (0 if spared else self.random.uniform(*self.delay_s)), number, way[target], packet))
            while waiting and waiting[0][0] <= time.monotonic():
                _, _, tun, packet = heapq.heappop(waiting)
                self.carried += 1
                os.write(tun, packet)

    def close(self):
        self.over.set()
        self.thread.join(10)
        for host in self.hosts.values():
            host.close()
