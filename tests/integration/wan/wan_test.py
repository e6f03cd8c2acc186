"""The emulated network between sites (tests/support/wan.py) keeps its word, and MPI runs over it: wan_test.py BIN SUPPORT MPIEXEC PARAMETERS [unittest names]

BIN holds apps/ and support/, SUPPORT is the folder of wan.py, PARAMETERS those of the kernel. Skipped without root or /dev/net/tun.
"""
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

BIN, SUPPORT, MPIEXEC, PARAMETERS = map(os.path.abspath, sys.argv[1:5])
sys.path.insert(0, SUPPORT)
from wan import JobFailed, Line, Wan, mpi_environment, run_mpi, why_not  # noqa: E402

SKIPPED = 77  # as CMakeLists.txt tells ctest
PORT = 7000
SO_RCVBUFFORCE = 33  # Linux; Python 3.11 has no name for it
PATIENCE_S = 5
RANKS, JOB_S = 9, 40
ALLGATHERS = 50  # one after the other in each team: external x internal cycles of the parameters


def socket_at(host, kind):
    """A socket of that host: it stays there, whoever uses it."""
    made = []

    def make():
        host.join()
        made.append(socket.socket(socket.AF_INET, kind))
    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    made[0].settimeout(PATIENCE_S)
    return made[0]


class Lines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.wan = Wan("abc", BIN + "/support").__enter__()
        cls.addClassCleanup(cls.wan.close)

    def endpoint(self, name, kind=socket.SOCK_DGRAM):
        made = socket_at(self.wan.hosts[name], kind)
        self.addCleanup(made.close)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((self.wan.address(name), PORT))
        return made

    def round_trip_s(self, there, back, count=15):
        """Of `count` the shortest, since a busy host makes some longer but none shorter: b answers each packet of a."""
        self.wan.join("a", "b", there)
        self.wan.join("b", "a", back)
        a, b = self.endpoint("a"), self.endpoint("b")
        times = []
        for number in range(count):
            begin = time.monotonic()
            a.sendto(str(number).encode(), (self.wan.address("b"), PORT))
            packet, sender = b.recvfrom(2048)
            b.sendto(packet, sender)
            self.assertEqual(a.recv(2048), str(number).encode())
            times.append(time.monotonic() - begin)
        a.close()
        b.close()
        return min(times)

    def test_round_trip_is_both_delays(self):
        for there, back in ((0, 0), (0.001, 0.001), (0.005, 0.005), (0.002, 0.02), (0.04, 0.04)):
            asked, found = there + back, self.round_trip_s(Line(there), Line(back))
            print(f"delay there {there * 1e3:g} ms, back {back * 1e3:g} ms: round trip {found * 1e3:.3f} ms", flush=True)
            self.assertGreaterEqual(found, asked, "faster than the line")
            self.assertLess(abs(found - asked), max(0.001, 0.1 * asked), f"asked for {asked} s")

    def measured(self, rate, measure):
        """What `measure` finds, within a tenth of `rate`. A busy host may forward less for a while, never more: three tries."""
        for _ in range(3):
            found = measure()
            self.assertLess(found, 1.1 * rate)
            if found > 0.9 * rate:
                return found
        self.fail(f"{found / 1e6:.3f} MB/s, three times in a row too little")

    def test_more_than_the_rate_is_dropped(self):
        """Twice the rate is sent for a second: the rate arrives, the rest is dropped."""
        rate, size = 2.5e6, 1000  # of UDP; 28 bytes of headers more on the line
        self.wan.join("a", "b", Line(0.005, rate, queue_bytes=20_000))
        a, b = self.endpoint("a"), self.endpoint("b")
        b.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
        b.setblocking(False)

        def second():
            _, carried_before, dropped_before = self.wan.carried("a", "b")
            begin, sent = time.monotonic(), 0
            while (passed := time.monotonic() - begin) < 1:
                while sent < 2 * rate / size * passed:
                    a.sendto(bytes(size), (self.wan.address("b"), PORT))
                    sent += 1
                time.sleep(0.001)  # the sender's own rate
            _, carried, dropped = self.wan.carried("a", "b")
            found, lost = carried - carried_before, dropped - dropped_before
            print(f"rate {rate / 1e6:g} MB/s: {found / 1e6:.3f} MB carried of {sent * (size + 28) / 1e6:.3f} in a second, {lost} packets dropped", flush=True)
            self.assertGreater(lost, 0.3 * sent)
            arrived = 0
            try:
                while True:
                    arrived += len(b.recv(2048)) + 28
            except BlockingIOError:
                pass
            self.assertLess(abs(arrived - found), 0.1 * rate, "what the line says it carried has to arrive")
            return found / passed
        self.measured(rate, second)

    def test_tcp_fills_the_line(self):
        for rate, delay_s in ((2.5e6, 0.001), (12.5e6, 0.005), (50e6, 0.001)):
            self.wan.join_all(Line(delay_s, rate))
            self.measured(rate, lambda: self.tcp_rate(rate, delay_s))  # noqa: B023

    def tcp_rate(self, rate, delay_s):
        """Bytes per second that one connection takes on the line."""
        a, b = socket_at(self.wan.hosts["a"], socket.SOCK_STREAM), self.endpoint("b", socket.SOCK_STREAM)
        b.listen()
        a.connect((self.wan.address("b"), PORT))
        into, _ = b.accept()
        self.addCleanup(into.close)
        stop = threading.Event()

        def send():
            block = bytes(65_536)
            try:
                while not stop.is_set():
                    a.sendall(block)
            except OSError:
                pass  # the reader has gone
        sender = threading.Thread(target=send)
        sender.start()
        begin = time.monotonic()
        counted = counted_from = 0
        while (now := time.monotonic()) < begin + 2.5:
            got = len(into.recv(1 << 20))
            if now > begin + 0.5:  # after the slow start
                counted_from = counted_from or now
                counted += got
        found = counted / (now - counted_from) * 1500 / 1448  # what it takes on the line
        stop.set()
        into.close()
        sender.join(PATIENCE_S)
        a.close()
        b.close()
        print(f"rate {rate / 1e6:g} MB/s, delay {delay_s * 1e3:g} ms: TCP {found / 1e6:.3f} MB/s", flush=True)
        return found

    def test_one_way_can_be_cut(self):
        self.wan.join_all(Line(0.001))
        a, b, c = self.endpoint("a"), self.endpoint("b"), self.endpoint("c")
        self.wan.cut("a", "b")
        a.sendto(b"lost", (self.wan.address("b"), PORT))
        a.sendto(b"goes", (self.wan.address("c"), PORT))
        self.assertEqual(c.recv(2048), b"goes")
        b.sendto(b"back", (self.wan.address("a"), PORT))
        self.assertEqual(a.recv(2048), b"back")
        self.wan.join("a", "b", Line(0.001))
        a.sendto(b"again", (self.wan.address("b"), PORT))
        self.assertEqual(b.recv(2048), b"again", "what was sent over a cut line must not come later")

    def test_nonsense_is_answered(self):
        for command in ("", "link", "link 0 3 1 1 1", "link 0 1 -1 0 0", "link 0 1 1 1", "link 0 1 x 0 0", "cut 0 1 2", "nap 0 1", "link 0 1 99999999999 0 0"):
            with self.assertRaisesRegex(AssertionError, "error: "):
                self.wan._ask(command)
        for words in ([], ["10.0.0.1=0"], ["10.0.0.1=0", "10.0.0=0"], ["10.0.0.1=0", "10.0.0.256=0"], ["10.0.0.1=0", "10.0.0.2=77"]):
            done = subprocess.run([BIN + "/support/delay_line", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("delay_line: ", done.stderr)


class Jobs(unittest.TestCase):
    def test_a_job_over_three_sites(self):
        """The kernel's checksum is that of a run on one host, and no faster than light."""
        kernel = [BIN + "/apps/transport_kernel", PARAMETERS]
        here = subprocess.run([MPIEXEC, "-n", str(RANKS), *kernel], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=JOB_S)
        self.assertEqual(here.returncode, 0, here.stderr)
        wanted = here.stdout.split("checksum ")[1].split()[0]
        delay_s = 0.005
        with Wan("abc", BIN + "/support") as wan, tempfile.TemporaryDirectory() as folder:
            wan.join_all(Line(delay_s, 12.5e6))
            said = run_mpi(wan, list("abcabcabc"), kernel, folder, mpi_environment(BIN + "/support"), JOB_S)
            checksum, seconds = said.split("checksum ")[1].split()[0], float(said.split("seconds ")[1].split()[0])
            print(f"three sites, {delay_s * 1e3:g} ms one way: {seconds} s, {wan.bytes_carried()} bytes between sites", flush=True)
            self.assertEqual(checksum, wanted)
            self.assertGreater(seconds, ALLGATHERS * delay_s)
            for site in "bc":
                self.assertGreater(wan.carried("a", site)[1], 10_000)
            self.assertEqual(sorted(run_mpi(wan, list("cab"), ["/bin/hostname"], folder, {}, JOB_S).split()), ["zone-a", "zone-b", "zone-c"])
            with self.assertRaisesRegex(JobFailed, "exit code 3"):
                run_mpi(wan, list("abc"), ["/bin/sh", "-c", "exit 3"], folder, {}, JOB_S)
            with self.assertRaisesRegex(JobFailed, "did not end within"):
                run_mpi(wan, list("abc"), ["/bin/sleep", "1000.25"], folder, {}, 2)
            self.assertEqual(subprocess.run(["pgrep", "-fx", "/bin/sleep 1000.25"], capture_output=True, text=True).stdout, "", "ranks are left over")


if __name__ == "__main__":
    if why := why_not():
        print("skipped: " + why)
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2)
