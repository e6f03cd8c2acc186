"""What the tests of `zbs` from the outside share: a zone with prepared answers, and calls of the program."""
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

ZBS, SOURCE = sys.argv[1:3]
JOBS = [
    {"id": "01", "state": "running", "ranks": 8, "program": "/bin/a", "zones": ["x", "y"], "reason": "", "submitted_us": 3_000_000},
    {"id": "02", "state": "failed", "ranks": 16, "program": "/bin/b", "zones": [], "reason": "no, \"not\" \x1b[2J", "submitted_us": 2_000_000, "exit_code": 3},
    {"id": "03", "state": "running", "ranks": 100, "program": "/bin/c", "zones": ["y"], "reason": "", "submitted_us": 1_000_000},
]
ONE, TWO = "01JJJJJJJJJJJJJJJJJJJJJJJJ", "01JJJJJJJJJJJJJJJJJJJJJJJK"
PLAN = {"profile": "none", "clusters": [[0, 1]], "zone_of_cluster": ["x"], "zone_of_rank": ["x", "x"], "round": 1, "start_in_s": 304.0, "queued": True,
        "zones": [{"zone": "x", "processors": 8, "ranks": 2, "reason": ""}]}
VIEW = {"id": ONE, "owner": "spiffe://org-a/user/ana", "name": "my run", "state": "planned", "reason": "", "ranks": 2, "argv": ["/bin/a"], "submitted_us": 1, "directory": "/", "plan": PLAN,
        "history": [{"state": "accepted", "at_us": 1_000_000}, {"state": "planned", "at_us": 3_723_000_000}],
        "parts": [{"id": TWO, "zone": "x", "ranks": [0, 1], "state": "queued", "reason": "", "assignment": [],
                   "queue": {"place": 3, "start_in_s": 128.0, "waits_for": "turn"}}]}
RIGHTS = {"processors": 4, "concurrent_parts": 1, "walltime_s": 1.5, "hours": [], "weekdays": ["mon"], "partitions": [], "share": 0.5, "account_rule": "map", "require_delegation": True}
PEERING = {"organisation": "org-b", "state": "accepted", "fingerprint": "sha256:1", "by": "b", "changed_us": 1, "requested_us": 1, "reason": "",
           "zones": [{"name": "y", "url": "https://y:1", "seen_us": 1}], "usage": {"processors": 1, "parts": 1}, "last_events": [{"at_us": 1, "event": "e"}],
           "trust": {"score": 0.5, "initial": 0.5, "reasons": [{"event": "e", "count": 1, "weight": 0.5, "effect": 0.5}]},
           "rights": {"floor": {"processors": 1, "concurrent_parts": 1, "walltime_s": 1.5}, "ceiling": RIGHTS}, "rights_now": RIGHTS}
PROFILE = {"id": ONE, "application": ONE, "at_us": 1, "program": "/bin/a", "arguments": "", "ranks": 2, "complete": True, "digest": "0" * 64, "predicted_s": 1.5, "measured_s": 2.5,
           "error": {"runs": 1, "mean": 0.5, "spread": 1.5, "last": 0.5}}
# All that a zone may report: tests/integration/cli/real_zone_test.py holds the golden files against real ones.
WHOLE_PLAN = PLAN | {"digest": "0" * 64, "predicted_s": 4.5, "crossing_bytes": 1.5, "crossing_bytes_block": 2.5, "crossing_bytes_round_robin": 3.5, "learned": "l",
                     "zones": [{"zone": "x", "processors": 8, "ranks": 2, "reason": "", "start_from_s": 0.5, "start_to_s": 1.5}]}
QUEUE_LOG = [{"event": "opened", "processors": 4, "rows": 1}, {"event": "discipline", "policy": "easy"},
             {"event": "waits", "part": ONE, "party": "org-a", "since_us": 1, "processors": 3, "length_us": 1_000_000, "priority": 0, "share": 0},
             {"event": "waits", "part": TWO, "party": "org-a", "since_us": 1, "processors": 2, "length_us": 1_000_000, "priority": 0, "share": 0}]
DECIDED = {"event": "decided", "at_us": 2, "usable": {}, "starts": [ONE], "places": [], "turns": {"rows": [], "shares": {}, "stopped": [], "slice_us": 0}, "wake_at_us": None,
           "outlooks": [{"part": TWO, "place": 1, "promised_us": 1_000_002, "start_us": 1_000_002, "waits_for": "turn"}]}


class Zone(http.server.BaseHTTPRequestHandler):
    """GETs answer from `answers`, a value or what makes one of the query (or nothing, to refuse it); everything that is sent is kept in `sent`, and refused where there is no answer to the address with its "?"."""
    answers, sent = {}, []
    ahead_s = 0  # its clock, before that of the machine

    def date_time_string(self, timestamp=None):
        return super().date_time_string((time.time() if timestamp is None else timestamp) + Zone.ahead_s)

    def reply(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Zbs-Next-Offset", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        path, _, query = self.path.partition("?")
        asked = dict(urllib.parse.parse_qsl(query))
        found = Zone.answers.get(path)
        if path == "/v1/applications/counts" and found is None:
            states = [row["state"] for row in Zone.answers["/v1/applications"]["applications"]]
            found = {"counts": {state: states.count(state) for state in states}, "ended_since_us": 60_000_000}
        if path == "/v1/applications" and "state" in asked and isinstance(found, dict):
            found = dict(found, applications=[row for row in found["applications"] if row["state"] in asked["state"].split(",")])
        if callable(found):
            found = found(asked)
            if found is None:
                return self.reply(400, {"title": "Bad Request", "status": 400, "detail": "is not a parameter of this call"})
        self.reply(404 if found is None else 200, found if found is not None else {"title": "Not Found", "status": 404, "detail": "nothing there"})

    def do_DELETE(self):
        Zone.sent.append(self.path)
        self.do_GET()

    def do_PATCH(self):
        Zone.sent.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.do_GET()

    def do_POST(self):
        Zone.sent.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        if self.path in Zone.answers:
            return self.reply(200, Zone.answers[self.path])
        self.reply(400, {"title": "Bad Request", "status": 400, "detail": "seen"} | Zone.answers.get("refusal", {}))

    def log_message(self, *_):
        pass


class Manners(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Zone)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.addClassCleanup(cls.server.server_close)
        cls.addClassCleanup(cls.server.shutdown)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        Zone.answers, Zone.sent, Zone.ahead_s = {"/v1/applications": {"applications": JOBS}}, [], 0

    def environment(self, **more):
        env = {k: v for k, v in os.environ.items() if not k.startswith("ZBS_")}
        return env | {"HOME": self.folder, "ZBS_URL": f"http://127.0.0.1:{self.server.server_port}", "ZBS_TOKEN": "x",
                      "ZBS_IDENTITY": "spiffe://org-a/user/ana", "TZ": "UTC"} | more

    def zbs(self, *words, **environment):
        return subprocess.run([ZBS, *words], cwd=self.folder, env=self.environment(**environment), capture_output=True, text=True, timeout=60)

    def good(self, *words):
        done = self.zbs(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refused(self, *words):
        done = self.zbs(*words)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        return done.stderr

    def mine(self):
        """Five applications with names, newest first; the zone reports each of them."""
        ids = [f"01JJJJJJJJJJJJJJJJJJJJJJJ{letter}" for letter in "ABCDE"]
        rows = [dict(JOBS[0], id=one, name=name, state=state) for one, name, state in zip(ids, ("lu-2", "lu-1", "cg", "lu-0", "old"), ("running", "planned", "running", "completed", "completed"))]
        Zone.answers["/v1/applications"] = {"applications": rows}
        Zone.answers |= {"/v1/applications/" + row["id"]: dict(VIEW, id=row["id"], name=row["name"], state=row["state"]) for row in rows}
        return ids

    def script(self, text, name="job.sh"):
        path = os.path.join(self.folder, name)
        with open(path, "w") as f:
            f.write(text)
        os.chmod(path, 0o755)
        return path

    def queue_log(self, name, decided):
        path = os.path.join(self.folder, name)
        with open(path, "w") as f:
            f.write("".join(json.dumps(event) + "\n" for event in [*QUEUE_LOG, decided]))
        return path
