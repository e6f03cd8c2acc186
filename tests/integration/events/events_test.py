"""Changes of state as they happen: events_test.py BIN [unittest names]

A reader that is cut, or whose zone is killed, goes on where it was: nothing missed, nothing twice; users see their own and operators all; `zbs wait` waits by events and, with
a zone that has none, by asking.
"""
import http.client
import http.server
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "federation"))
import federation  # noqa: E402
from federation import Federation, read, until  # noqa: E402

LIFE = ["accepted", "planned", "held", "committed", "launching", "running", "completed"]
ENDS = ("completed", "failed", "cancelled", "rejected")


class Reader:
    """Reads a stream of events in a thread of its own, and goes on from the last id whenever it is cut."""

    def __init__(self, federation_, path, who="you", folder=None, after=None):
        self.context = federation_.tls(folder or federation_.identity(who))
        self.where, self.path, self.last = federation_.zone_url("a").removeprefix("https://"), path, after
        self.events, self.connections, self.beats, self.stopped, self.done, self.socket = [], 0, 0, False, False, None
        self.thread = threading.Thread(target=self.go_on, daemon=True)
        self.thread.start()

    def go_on(self):
        while not self.stopped and not self.done:
            try:
                self.read_once()
            except (OSError, http.client.HTTPException):
                time.sleep(0.05)  # until the zone is back

    def read_once(self):
        connection = http.client.HTTPSConnection(self.where, timeout=40, context=self.context)
        try:
            headers = {} if self.last is None else {"Last-Event-ID": str(self.last)}
            connection.request("GET", self.path, headers=headers)
            self.socket = connection.sock
            reply = connection.getresponse()
            self.done = reply.status == 204
            if reply.status != 200:
                return
            self.connections += 1
            identity = None
            while line := reply.readline():
                text = line.decode().rstrip("\n")
                if text.startswith("id: "):
                    identity = int(text[4:])
                elif text.startswith("data: "):
                    event = json.loads(text[6:])
                    assert event["id"] == identity
                elif text == "" and identity is not None:
                    self.events.append(event)
                    self.last, identity = event["id"], None
        finally:
            connection.close()

    def states(self, application=None):
        return [event["state"] for event in list(self.events) if "part" not in event and application in (None, event["application"])]

    def cut(self):
        """Ends the connection, not the reader."""
        if self.socket:
            try:
                # That of SSLSocket would let the reader read on without TLS: bytes of records as events.
                socket.socket.shutdown(self.socket, socket.SHUT_RDWR)
            except OSError:
                pass

    def stop(self):
        self.stopped = True
        self.cut()
        self.thread.join(60)


class Events(unittest.TestCase):
    def setUp(self):
        self.f = Federation().__enter__()
        self.addCleanup(self.f.__exit__)

    def reader(self, *arguments, **options):
        made = Reader(self.f, *arguments, **options)
        self.addCleanup(made.stop)
        return made

    def test_a_reader_that_is_cut_again_and_again_misses_nothing(self):
        whole = self.reader("/v1/events")
        until(lambda: whole.connections, 60, "an open stream")
        torn = self.reader("/v1/events", after=0)
        jobs = []
        for _ in range(4):
            jobs.append(self.f.submit("-n", "6", "--no-record", "--", "/bin/sleep", "0.3"))
            torn.cut()
        for job in jobs:
            self.f.wait_state(job, ENDS, 60)
            torn.cut()
            until(lambda: torn.states(job)[-1:] == ["completed"] and whole.states(job)[-1:] == ["completed"], 60, lambda: f"{torn.states(job)} {whole.states(job)}")
        self.assertGreater(torn.connections, 2)
        self.assertEqual(torn.events, whole.events)
        ids = [event["id"] for event in whole.events]
        self.assertEqual(ids, sorted(set(ids)))
        for job in jobs:
            self.assertEqual((whole.states(job)[0], whole.states(job)[-1]), ("accepted", "completed"))
        # From each id on exactly the rest, read anew.
        for i, event in enumerate(whole.events):
            if i % 5 == 0:
                rest = self.reader("/v1/events", after=event["id"])
                until(lambda: len(rest.events) >= len(whole.events) - i - 1, 60, "the rest")
                self.assertEqual(rest.events, whole.events[i + 1:])
                rest.stop()

    def test_a_killed_zone_goes_on_telling(self):
        job = self.f.submit("-n", "2", "--no-record", "--", "/bin/sleep", "4")
        one, everything = self.reader(f"/v1/applications/{job}/events"), self.reader("/v1/events", after=0)
        waiting = self.f.start("wait", job)
        self.addCleanup(waiting.communicate)
        until(lambda: one.states() == LIFE[:-1], 60, one.states)
        self.restart("a")
        until(lambda: one.done, 60, one.states)
        self.assertEqual(one.states(), LIFE)
        until(lambda: everything.states(job)[-1:] == ["completed"], 60, lambda: everything.states(job))
        self.assertEqual(everything.states(job), LIFE)
        self.assertGreater(one.connections, 1)
        self.assertEqual(waiting.wait(60), 0)

    def restart(self, zone):
        """kill -9, and the same program again under the same settings."""
        pid = self.f.service("zbs-zone", f"{zone}.toml")
        settings = f"{self.f.folder}/state/{zone}.toml"
        self.assertIn("listen", read(settings))
        state = lambda process: read(f"/proc/{process}/stat").rsplit(")", 1)[1].split()[0]  # noqa: E731
        os.kill(self.f.quickstart.pid, signal.SIGSTOP)  # else it starts the zone again itself
        until(lambda: state(self.f.quickstart.pid) == "T", 60, "quickstart does not stop")
        os.kill(pid, signal.SIGKILL)
        until(lambda: state(pid) == "Z", 60, "the zone does not end")  # until then it keeps its folder and its port
        log = open(f"{self.f.folder}/again.log", "w")
        self.addCleanup(log.close)
        again = subprocess.Popen([federation.BIN + "/zbs-zone", "run", "--config", settings], stdout=log, stderr=log, env=self.f.environment)

        def end():
            again.terminate()
            again.wait(60)
            os.kill(self.f.quickstart.pid, signal.SIGCONT)
        self.addCleanup(end)
        until(lambda: "listening" in read(f"{self.f.folder}/again.log"), 60, lambda: read(f"{self.f.folder}/again.log"))

    def test_users_see_their_own_and_operators_all(self):
        ben = self.f.log_in("a", "ben")
        mine, his = self.reader("/v1/events"), self.reader("/v1/events", folder=ben)
        operators = self.reader("/v1/events", who="operator a")
        until(lambda: mine.connections and his.connections and operators.connections, 60, "open streams")
        job = self.f.submit("-n", "1", "--no-record", "--", "/bin/true")
        theirs = self.f.zbs("--credentials", ben, "submit", "-n", "1", "--no-record", "--", "/bin/true").stdout.strip()
        until(lambda: operators.states(job)[-1:] == ["completed"] and operators.states(theirs)[-1:] == ["completed"], 60, operators.states)
        until(lambda: mine.states(job)[-1:] == ["completed"] and his.states(theirs)[-1:] == ["completed"], 60, mine.states)
        self.assertEqual({event["application"] for event in mine.events}, {job})
        self.assertEqual({event["application"] for event in his.events}, {theirs})
        self.assertFalse([event for event in mine.events + his.events if "part" in event])
        self.assertTrue([event for event in operators.events if "part" in event])
        address = self.f.zone_url("a") + "/v1/applications/" + job + "/events"
        self.assertEqual(self.f.call(address, folder=ben)[0], 404)
        self.assertEqual(self.f.call(address, who="zone b")[0], 403)
        self.assertEqual(self.f.call(address, who=None)[0], 401)

    def test_waiting_asks_once_for_each_change(self):
        def asked():
            context = self.f.tls(self.f.identity("operator a"))
            connection = http.client.HTTPSConnection(self.f.zone_url("a").removeprefix("https://"), timeout=40, context=context)
            try:
                connection.request("GET", "/metrics")
                text = connection.getresponse().read().decode()
            finally:
                connection.close()
            return sum(int(line.split()[-1]) for line in text.splitlines() if line.startswith('zbs_zone_requests_total{operation="getApplication"'))
        job = self.f.submit("-n", "1", "--no-record", "--", "/bin/sleep", "3")
        before = asked()
        self.assertEqual(self.f.zbs("wait", job).returncode, 0)
        self.assertLessEqual(asked() - before, len(LIFE) + 2, "as often as something happened, and at first and in the end")

    def test_a_zone_without_events_is_asked_now_and_then(self):
        """An older zone in front of the real one: it knows no path of events."""
        f = self.f

        class Older(http.server.BaseHTTPRequestHandler):
            refused = 0

            def do_GET(self):
                if urllib.parse.urlsplit(self.path).path.endswith("/events"):
                    Older.refused += 1
                    body, status, media = b'{"code":"not_found","detail":"nothing is at ' + self.path.encode() + b'"}', 404, "application/problem+json"
                else:
                    connection = http.client.HTTPSConnection(f.zone_url("a").removeprefix("https://"), timeout=40, context=f.tls(f.identity("you")))
                    connection.request("GET", self.path)
                    reply = connection.getresponse()
                    body, status, media = reply.read(), reply.status, reply.headers["Content-Type"]
                    connection.close()
                self.send_response(status)
                self.send_header("Content-Type", media)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Older)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        job = self.f.submit("-n", "1", "--no-record", "--", "/bin/sh", "-c", "sleep 1; exit 7")
        environment = {name: value for name, value in self.f.environment.items() if name != "ZBS_CREDENTIALS"}
        done = subprocess.run([federation.BIN + "/zbs", "wait", job], capture_output=True, text=True, timeout=60,
                              env=dict(environment, ZBS_URL=f"http://127.0.0.1:{server.server_port}", ZBS_IDENTITY="spiffe://org-a/user/you", ZBS_TOKEN="x"))
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertEqual(Older.refused, 1)


if __name__ == "__main__":
    federation.BIN = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
