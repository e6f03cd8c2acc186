"""Nothing about accounts, machines, queue or users leaves a zone: every byte that another organisation's zone, user or operator can get
out of zone b, and every byte that zone b sends by itself, is kept and searched for words that were planted inside.

usage: leak_test.py BIN SOURCE_DIR [unittest arguments]
"""
import json
import os
import pathlib
import re
import secrets
import signal
import socket
import sqlite3
import sys
import unittest

from live import DEADLINE_S, Live, bundle, context, federation, fresh_id, until
from stub_service import StubService

ACCOUNTS = "pool {pool} = {pool_account}[01-02]\norg-a  denied  *  ->  deny\norg-a  ana  *  ->  {account}\norg-b  *  {group}  ->  pool:{pool}\norg-*  *  *  ->  {guest}\n"
IDS = ("application", "part", "profile", "delegation")


def part(user="ana", ranks=2, walltime_s=60, **changes):
    return {"id": fresh_id("spiffe://org-a/zone/a"), "application": fresh_id(f"spiffe://org-a/user/{user}"), "user": f"spiffe://org-a/user/{user}", "home": "a", "ranks": list(range(ranks)),
            "graph": {"compute": [1] * ranks, "edges": []}, "outside": [], "walltime_s": walltime_s, "seed": 1, **changes}


class Leaks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.f = Live().__enter__()
        cls.addClassCleanup(cls.f.__exit__)
        cls.words = {kind: kind.replace("_", "-") + "-" + secrets.token_hex(6) for kind in
                     ("machine", "account", "pool", "pool_account", "guest", "group", "zelda", "yuri", "program", "argument", "value", "output")}
        cls.plant()
        cls.addClassCleanup(cls.finish)

    @classmethod
    def finish(cls):
        cls.f.zbs("--credentials", cls.zelda, "cancel", cls.words["application"])
        until(lambda: not cls.f.job_processes(), DEADLINE_S, f"processes left: {cls.f.job_processes()}")

    @classmethod
    def plant(cls):
        """Puts the words into zone b, and notes what else is secret there."""
        f, words = cls.f, cls.words
        (f.state / "b.accounts").write_text(ACCOUNTS.format(**words))
        f.restart("b", lambda text: text.replace('name = "m0"', f'name = "{words["machine"]}"'))
        program = pathlib.Path(f.folder) / words["program"]
        program.write_text(f"#!/bin/sh\necho {words['output']}\nexec sleep 600\n")
        program.chmod(0o755)
        for elsewhere in "ac":  # what zelda runs, runs in zone b
            f.operate(elsewhere, "peer", "suspend", "org-b")
        cls.zelda = zelda = f.log_in("b", words["zelda"], "--group", words["group"])
        run = ("--credentials", zelda, "submit", "--env", f"SECRET={words['value']}")
        words["application"] = f.zbs(*run, "-n", "1", "--", str(program), words["argument"]).stdout.strip()
        words["waiting application"] = f.zbs(*run, "-n", "4", "--", str(program)).stdout.strip()
        words["code"] = f.operate("b", "user", "add", words["yuri"]).split("+")[2]
        operator = f.organisations.issue("org-b", "operator", "operator")
        words["part"] = until(lambda: json.loads(f.ask("b", operator, "GET", "/v1/queue")[1])["parts"], DEADLINE_S, "nothing runs in zone b")[0]["part"]
        f.operate("a", "peer", "resume", "org-b")
        until(lambda: f.zbs("--credentials", zelda, "logs", words["application"]).stdout.strip() == words["output"], DEADLINE_S, "no output")
        words["folder"] = f.folder
        for path in (f.state / "b/identity").rglob("*key.pem"):
            words[f"key {path.parent.name}/{path.name}"] = path.read_text().splitlines()[1]
        with sqlite3.connect(f"file:{f.state}/b/zone.db?mode=ro", uri=True) as database:
            dump = "\n".join(database.iterdump())
        words["delegated key"] = dump.split("PRIVATE KEY-----")[1].replace("\\n", "\n").split("\n")[1]

    def setUp(self):
        self.open, self.wire = {}, []

    def assert_nothing_of(self, words, sent):
        """`sent`: what was asked, and what came; a word that the asker said himself is no news to him."""
        self.assertGreater(sum(len(came) for _, came in sent), 1_000)
        for kind, word in words.items():
            self.assertGreaterEqual(len(word), 12)
            for asked, came in sent:
                at = -1 if word.encode() in asked else came.find(word.encode())
                self.assertEqual(at, -1, f"{kind} came out: {asked[:200]!r} -> {came[max(0, at - 300):at + 100]!r}")

    def exchange(self, identity, method, target, body=None, headers=""):
        """One request, on the caller's open connection; every byte of the answer is kept. Its status and JSON."""
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        head = f"{method} {target} HTTP/1.1\r\nHost: b\r\n{headers}" + (f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n" if body is not None else "") + "\r\n"
        key = identity and identity.chain
        if key not in self.open:
            self.open[key] = context(identity).wrap_socket(socket.create_connection(("127.0.0.1", self.f.port("b")), timeout=DEADLINE_S))
            self.addCleanup(self.open[key].close)
            self.wire.append((b"", self.open[key].getpeercert(binary_form=True)))
        self.open[key].sendall(head.encode() + data)
        answer = b""
        while b"\r\n\r\n" not in answer or len(answer.split(b"\r\n\r\n", 1)[1]) < int(re.search(rb"Content-Length: (\d+)", answer).group(1)):
            piece = self.open[key].recv(65536)
            self.assertTrue(piece, answer)
            answer += piece
        if b"Connection: close" in answer:
            del self.open[key]
        self.wire.append((head.encode() + data, answer))
        text = answer.split(b"\r\n\r\n", 1)[1]
        return int(answer.split(b" ")[1]), json.loads(text) if text.startswith(b"{") else {}

    def test_the_words_are_in_the_zone(self):
        inside = b"".join(path.read_bytes() for path in [self.f.state / "b.toml", self.f.state / "b.accounts", *(self.f.state / "b").rglob("*")] if path.is_file())
        for kind, word in self.words.items():
            if kind != "code":  # kept as a digest
                with self.subTest(kind):
                    self.assertIn(word.encode(), inside)
        self.assertNotIn(self.words["code"].encode(), inside)

    def test_what_a_peer_can_ask_for(self):
        ana, document = self.f.user("a", "ana"), bundle("zone")
        callers = [self.f.zone_identity("a"), ana, self.f.organisations.proxy("full", ana), self.f.organisations.issue("org-a", "operator", "operator"), None]
        asked = 0
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                examples = [e["value"] for e in operation["requestBody"]["content"]["application/json"]["examples"].values()] if "requestBody" in operation else [None]
                names = {p["name"]: str(p["example"]) for p in operation.get("parameters", ()) if p["in"] == "path"}
                for id in [names.get("id", "")] + [self.words[kind] for kind in ("application", "part") if "id" in names]:
                    target = path.format(**names | {"id": id, "organisation": "org-a", "name": self.words["zelda"]} if names else {})
                    for identity in callers:
                        for body in examples + ([b"{", b"[1]"] if examples != [None] else []):
                            self.exchange(identity, method.upper(), target, body)
                            asked += 1
        for target in ("/", "/metrics", "/v1", "/v1/nodes/" + self.words["machine"][:4], "/favicon.ico", "/v1/queue?x=1", "/%2e%2e/zone.db"):
            self.exchange(ana, "GET", target)
        self.exchange(ana, "GET", "/livez", headers="X: " + "x" * 20_000 + "\r\n")
        self.assertGreater(asked, 300)
        self.assert_nothing_of(self.words, self.wire)

    def test_what_a_peer_learns_from_parts(self):
        zone, b = self.f.zone_identity("a"), lambda *words: self.f.operate("b", "peer", "set", "org-a", *words)
        b("--no-delegation")
        for user in ("ana", "denied", "nobody-knows"):
            status, capacity = self.exchange(zone, "POST", "/v1/capacity", {"user": f"spiffe://org-a/user/{user}", "processors": 4, "walltime_s": 60, "zones": ["a", "c"]})
            self.assertEqual((status, capacity["total_processors"]), (200, 0 if user == "denied" else 4))
        for refused in (part("denied"), part(ranks=5), part(walltime_s=10_000_000), part(user="x") | {"user": "spiffe://org-b/user/ana"}, {"id": "x"}):
            self.assertIn(self.exchange(zone, "POST", "/v1/parts", refused)[0], (400, 403, 422))
        wanted = part()
        at = f"/v1/parts/{wanted['id']}"
        status, held = self.exchange(zone, "POST", "/v1/parts", wanted)
        self.assertEqual((status, {place["machine"] for place in held["assignment"]}), (201, {"n0"}))
        launch = {"token": held["token"], "operation": "run-" + held["id"], "options": [{"name": "control-port", "value": "127.0.0.1:1"}], "proxies": [{"id": 0, "machine": "n0"}], "profile": True, "preload": True}
        steps = [(at + "/launch", launch), (at + "/commit", {"token": held["token"] + 1}), (at + "/commit", {"token": held["token"]}),
                 (at + "/launch", launch | {"proxies": [{"id": 0, "machine": "m0"}]}), (at + "/launch", launch | {"options": [{"name": "exec", "value": "/bin/sh"}]}), (at + "/launch", launch), ("/v1/parts", wanted | {"seed": 2})]
        self.assertEqual([self.exchange(zone, "POST", target, body)[0] for target, body in steps], [409, 409, 200, 400, 400, 200, 422])
        ended = until(lambda: (view := self.exchange(zone, "GET", at)[1])["state"] in ("failed", "completed") and view, DEADLINE_S, "the part does not end")
        self.assertEqual(ended["state"], "failed")  # nobody listens at that port
        for target in (at + "/profile", at):
            self.exchange(zone, "GET", target)
        self.exchange(zone, "DELETE", at)
        self.assert_nothing_of(self.words, self.wire)

    def test_what_a_zone_says_when_it_asks(self):
        # Before anybody listens in place of zone a: what waits is asked about every second, with the groups of its user.
        self.f.zbs("--credentials", self.zelda, "cancel", self.words["waiting application"])
        config = self.f.state / "a.toml"
        identity, port = self.f.copy_of(self.f.zone_identity("a")), self.f.port("a")
        config.rename(self.f.state / "a.gone")  # quickstart cannot start it again
        os.kill(self.f.service("zbs-zone", "a.toml"), signal.SIGKILL)
        until(lambda: self.f.service("zbs-zone", "a.toml") is None, DEADLINE_S, "zone a is still there")
        stub = until(lambda: self.listen(port, identity), DEADLINE_S, "the port of zone a is taken")
        self.addCleanup(stub.close)
        quinn = self.f.log_in("b", "quinn")
        program = pathlib.Path(self.f.folder) / self.words["program"]
        done = self.f.zbs("--credentials", quinn, "submit", "--zones", "a,b", "--env", f"SECRET={self.words['value']}", "-n", "7", "--", str(program), self.words["argument"])
        self.assertEqual(done.returncode, 0, done.stderr)
        until(lambda: any(b"/launch HTTP" in request for request in stub.received), DEADLINE_S, "zone b launches nothing")
        self.f.zbs("--credentials", quinn, "cancel", done.stdout.strip())
        until(lambda: any(request.startswith(b"DELETE") for request in stub.received), DEADLINE_S, "zone b gives nothing back")
        kinds = {request.split(b" ")[1].rsplit(b"/", 1)[1].split(b"?")[0] for request in stub.received if b"/v1/parts/" not in request.split(b" ")[1] or request.startswith(b"POST")}
        self.assertLessEqual({b"capacity", b"parts", b"commit", b"launch"}, kinds)
        self.assertTrue([request for request in stub.received if b"spiffe://org-b/user/quinn" in request], "what is said for her names her")
        self.assert_nothing_of(self.words, [(b"", request) for request in stub.received])

    def listen(self, port, identity):
        def answer(method, path, body):
            json_body = json.loads(body) if body else {}
            if path == "/v1/capacity":
                return 200, {"zone": "a", "processors": 4, "total_processors": 4, "speed_sum": 4, "speed_mean": 1, "speed_variance": 0, "largest_machine": 4,
                             "within_zone": {"delay_s": 0.001, "bandwidth_Bps": 1e9}, "links": []}
            if path == "/v1/parts":
                stub.held = {"id": json_body["id"], "zone": "a", "state": "held", "token": 1, "expires_in_s": 30, "reason": "", "can_profile": False, "has_profile": False,
                             "assignment": [{"rank": rank, "machine": "n0", "processor": at} for at, rank in enumerate(json_body["ranks"])]}
                return 201, stub.held
            if path.startswith("/v1/parts/"):
                states = {"commit": "committed", "launch": "running"}
                stub.held = stub.held | {"state": "released" if method == "DELETE" else states.get(path.rsplit("/", 1)[1], stub.held["state"]), "expires_in_s": 0}
                return 200, stub.held
            if path == "/v1/peerings":
                return 200, {"zone": "a", "organisation": "org-a", "state": "accepted", "reason": ""}
            return 200, {"organisation": "org-a", "name": "spiffe://org-a/zone/a", "bundle": (self.f.state / "a/identity/bundle.pem").read_text(), "revocations": "", "blocked": []}

        try:
            stub = StubService("127.0.0.1", port, identity, answer)
        except OSError:
            return None
        return stub

    def test_what_the_registry_knows(self):
        files = [path.read_bytes() for path in (self.f.state / "registry").iterdir() if path.is_file()]
        client = self.f.open_registry(self.f.zone_identity("c"))
        self.addCleanup(client.close)
        listed = client.ask("GET", "/v1/zones")[1]
        self.assertIn(b"org-b", listed)
        words = dict(self.words)
        del words["folder"]  # its own log and settings lie in the same test folder
        self.assert_nothing_of(words, [(b"", content) for content in [*files, listed]])


if __name__ == "__main__":
    federation.BIN = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
