"""Clients that hold a connection and give nothing for it are ended by the edge's deadlines, and nobody else notices.

usage: slow_clients_test.py ZBS_REGISTRY ZBS_ZONE [unittest arguments]

The deadlines are those of `ServerOptions` (services/common/adapters/beast/server.hpp): 5 s for the handshake, 10 s for a head or a body that
hardly moves. They cannot be set, so all slow clients run side by side and the test takes as long as the longest. Seconds are printed, not
asserted. What connections without an identity cost at most, in memory, is asserted.
"""
import http.client
import os
import pathlib
import resource
import select
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from identities import context
from world import DEADLINE_S, World

REGISTRY, ZONE = sys.argv[1], sys.argv[2]
LONGEST_S = 10  # of a head, or a body that hardly moves
ANONYMOUS, MOST_MIB = 2000, 200
SERVED_S = 2  # many times what it takes: 50 ms
BODY = b"POST /v1/applications HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 10000\r\n\r\n"
CHUNKS = b"POST /v1/applications HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"


class SlowClient:
    """Sends `begin` at once, then `drip` every `pause_s` until the other side ends it."""

    def __init__(self, port, identity, handshake=True, begin=b"", drip=b"", pause_s=1.0):
        self.begin, self.drip, self.pause_s, self.sent = begin, drip, pause_s, 0
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=DEADLINE_S)
        if handshake:
            self.socket = context(identity).wrap_socket(self.socket)
        self.socket.settimeout(0)

    def is_ended(self, seconds):
        """Waits for the end at most so long."""
        ready, _, _ = select.select([self.socket], [], [], seconds)
        try:
            return bool(ready) and self.socket.recv(65536) == b""
        except ssl.SSLWantReadError:
            return False  # nothing for us in what came
        except OSError:
            return True

    def run(self, patience_s):
        """Seconds until it was ended; none where it was not."""
        start = time.monotonic()
        try:
            self.socket.sendall(self.begin)
            while time.monotonic() - start < patience_s:
                if self.is_ended(self.pause_s):
                    return time.monotonic() - start
                self.sent += self.socket.send(self.drip) if self.drip else 0
        except OSError:  # ended while it was sending
            return time.monotonic() - start
        finally:
            self.socket.close()
        return None


class SlowClients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="zbs-slow-clients-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        cls.world = World(cls.folder, REGISTRY, ZONE)
        cls.addClassCleanup(cls.world.stop)
        cls.world.begin()
        cls.ana, cls.port = cls.world.issue("alpha", "user", "ana"), cls.world.ports["zone"]

    def is_served(self):
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=DEADLINE_S, context=context(self.ana))
        try:
            connection.request("GET", "/v1/whoami")
            return connection.getresponse().status == 200
        finally:
            connection.close()

    def test_each_is_ended_by_its_deadline_while_another_is_served(self):
        clients = {"says nothing": SlowClient(self.port, self.ana, handshake=False),
                   "half a handshake": SlowClient(self.port, self.ana, handshake=False, begin=b"\x16\x03\x01\x02\x00\x01"),
                   "a handshake byte by byte": SlowClient(self.port, self.ana, handshake=False, begin=b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", drip=b"\0"),
                   "no request": SlowClient(self.port, self.ana),
                   "a head byte by byte": SlowClient(self.port, self.ana, begin=b"GET /livez HTTP/1.1\r\nHost: a\r\nX: ", drip=b"x"),
                   "a body byte by byte": SlowClient(self.port, self.ana, begin=BODY, drip=b" "),
                   "a chunked body byte by byte": SlowClient(self.port, self.ana, begin=CHUNKS, drip=b"1\r\n \r\n"),
                   "a body that stops": SlowClient(self.port, self.ana, begin=BODY + b"{")}
        ended = {}
        threads = [threading.Thread(target=lambda name=name, client=client: ended.update({name: client.run(LONGEST_S + DEADLINE_S)})) for name, client in clients.items()]
        for thread in threads:
            thread.start()
        served = 0
        while any(thread.is_alive() for thread in threads):
            self.assertTrue(self.is_served())
            served += 1
            threads[5].join(0.2)
        for name, seconds in ended.items():
            print(f"{name}: ended after {seconds if seconds is None else round(seconds, 1)} s, {clients[name].sent} bytes dripped", flush=True)
            with self.subTest(name):
                self.assertIsNotNone(seconds, "was not ended")
        self.assertGreater(served, 20)
        self.assertGreater(clients["a body byte by byte"].sent, 0)

    def test_two_thousand_without_an_identity_cost_little(self):
        """They send as much as they are let, from an address each, wait for as long as they are let, and read nothing."""
        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
        zone = next(process for name, process, _ in self.world.services if name == "zone")
        head = "Host: a\r\nContent-Type: application/json\r\n"
        body = b" " * 262_144
        kinds = [f"POST /v1/enrolments HTTP/1.1\r\n{head}Content-Length: 262144\r\n\r\n".encode() + body[:-1],
                 f"POST /v1/peerings HTTP/1.1\r\n{head}Transfer-Encoding: chunked\r\n\r\n3ffff\r\n".encode() + body[:-1],
                 f"POST /v1/peerings HTTP/1.1\r\n{head}Transfer-Encoding: chunked\r\n\r\n0\r\nX: ".encode() + body,
                 f"POST /v1/parts HTTP/1.1\r\n{head}Content-Length: 16777216\r\n\r\n".encode() + body,
                 b"GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n" * 20]
        before, anonymous, late = self.memory_mib(zone.pid, "VmRSS"), context(), []
        open_ones, trying = [], list(range(ANONYMOUS))

        def flood():
            while trying:
                number = trying.pop()
                raw = socket.socket()
                open_ones.append(raw)
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                raw.settimeout(DEADLINE_S)
                try:
                    raw.bind((f"127.{1 + number // 65536}.{number // 256 % 256}.{number % 256}", 0))
                    raw.connect(("127.0.0.1", self.port))
                    open_ones[open_ones.index(raw)] = secured = anonymous.wrap_socket(raw)
                    secured.settimeout(0)
                    left = memoryview(kinds[number % len(kinds)])
                    while left:
                        select.select([], [secured], [], 0.2)
                        left = left[secured.send(left):]
                except (OSError, ValueError):
                    pass  # refused, or nobody takes more
        threads = [threading.Thread(target=flood) for _ in range(8)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            asked = time.monotonic()
            self.assertTrue(self.is_served())
            late.append(time.monotonic() - asked)
        for _ in range(5):  # while the last of them still hold what they got
            asked = time.monotonic()
            self.assertTrue(self.is_served())
            late.append(time.monotonic() - asked)
        cost = self.memory_mib(zone.pid, "VmHWM") - before
        for one in open_ones:
            one.close()
        late.sort()
        print(f"{len(open_ones)} connections without an identity cost {cost:.0f} MiB at most; another was served in {late[len(late) // 2] * 1000:.0f} ms (median), {late[-1] * 1000:.0f} ms (longest of {len(late)})", flush=True)
        self.assertEqual(len(open_ones), ANONYMOUS)
        self.assertLess(cost, MOST_MIB)
        self.assertLess(late[len(late) * 9 // 10], SERVED_S, "nine of ten")
        end = time.monotonic() + DEADLINE_S
        while (kept := self.memory_mib(zone.pid, "VmRSS") - before) > cost / 2 and time.monotonic() < end:
            self.assertTrue(self.is_served())  # the end of a connection is when the zone gives memory back
            time.sleep(0.2)
        print(f"{kept:.0f} MiB of that are kept", flush=True)
        self.assertLessEqual(kept, cost / 2)

    @staticmethod
    def memory_mib(pid, what):
        return next(int(line.split()[1]) / 1024 for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith(what))

    def test_nobody_renegotiates(self):
        for service, port in self.world.ports.items():
            with self.subTest(service):
                client = subprocess.Popen(["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-tls1_2", "-cert", self.ana.chain, "-key", self.ana.key],
                                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                client.stdin.write("R\n")
                client.stdin.flush()
                said = client.communicate(timeout=DEADLINE_S)[0]
                self.assertIn("Protocol  : TLSv1.2", said)
                self.assertIn("RENEGOTIATING", said)
                self.assertIn("no renegotiation", said)
                self.assertEqual(said.count("SSL handshake has read"), 1)
        self.assertTrue(self.is_served())

    def test_nothing_can_be_sent_before_the_handshake(self):
        """0-RTT data can be replayed. It needs a session to resume; the services give none, so there is nothing to send early data with."""
        for service, port in self.world.ports.items():
            with self.subTest(service), tempfile.TemporaryDirectory() as folder:
                def client(*options):
                    return subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-tls1_3", "-cert", self.ana.chain, "-key", self.ana.key, *options],
                                          input="GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", capture_output=True, text=True, timeout=DEADLINE_S).stdout
                said = client("-ign_eof", "-sess_out", f"{folder}/session")
                self.assertIn("TLSv1.3", said)
                self.assertIn("HTTP/1.1 200", said)
                self.assertNotIn("New Session Ticket", said)
                self.assertFalse(os.path.exists(f"{folder}/session"), "a session to resume was given")
        self.assertTrue(self.is_served())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
