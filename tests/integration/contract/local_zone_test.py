"""A zone without certificates and peers: plain HTTP on loopback, where a name counts with the token of the zone's folder and never else.

usage: local_zone_test.py ZBS_ZONE [unittest arguments]
"""
import http.client
import itertools
import json
import pathlib
import select
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

ZONE, DEADLINE_S = sys.argv[1], 20
ANA = "spiffe://alpha/user/ana"
SETTINGS = 'name = "alpha-one"\norganisation = "alpha"\nstate = "{folder}/state"\nlisten = "{listen}"\nrun_as = "self"\n[[machine]]\nname = "node-1"\nprocessors = 1\n'
NO_NAMES = ["", "ana", "anonymous", "spiffe://", "spiffe://alpha", "spiffe://alpha/user", "spiffe://alpha/user/", "spiffe:///user/ana", "spiffe://alpha//ana",
            "spiffe://alpha/user/ana/", "spiffe://alpha/user/ana/x", "spiffe://alpha/root/ana", "spiffe://alpha/User/ana", "SPIFFE://alpha/user/ana", "http://alpha/user/ana",
            "spiffe://Alpha/user/ana", "spiffe://alpha/user/Ana", "spiffe://alpha/user/.ana", "spiffe://alpha/user/../ana", "spiffe://alpha/user/ana?x", "spiffe://alpha/user/ana#x",
            "spiffe://alpha/user/ana%00", "spiffe://alpha/user/a na", "spiffe://alpha/user/ana, spiffe://alpha/user/bob", "spiffe://alpha/user/\xe4na", "spiffe://alpha/user/ana\t.",
            "spiffe://alpha/user/" + "a" * 65, "spiffe://" + "a" * 65 + "/user/ana", "spiffe://alpha/user/" + "a" * 8_000,
            "spiffe://alpha/zone/alpha-one", "spiffe://alpha/zone/alpha-two", "spiffe://grid/registry/grid"]


class LocalZone(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="zbs-local-zone-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        (cls.folder / "zone.toml").write_text(SETTINGS.format(folder=cls.folder, listen="127.0.0.1:0"))
        cls.begin()
        cls.addClassCleanup(lambda: cls.end())

    @classmethod
    def begin(cls):
        cls.log = open(cls.folder / "log", "ab")
        cls.process = subprocess.Popen([ZONE, "run", "--config", cls.folder / "zone.toml"], stdout=subprocess.PIPE, stderr=cls.log, text=True)
        ready, _, _ = select.select([cls.process.stdout], [], [], DEADLINE_S)
        line = cls.process.stdout.readline() if ready else ""
        assert "http://127.0.0.1:" in line, line + (cls.folder / "log").read_text()
        cls.port = int(line.rsplit(":", 1)[1])
        cls.token = (cls.folder / "state/local_token").read_text()

    @classmethod
    def end(cls):
        cls.process.terminate()
        code = cls.process.wait(DEADLINE_S)
        cls.process.stdout.close()
        cls.log.close()
        assert code == 0, (cls.folder / "log").read_text()

    def ask(self, *headers, target="/v1/whoami"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE_S)
        try:
            connection.putrequest("GET", target)
            for name, value in headers:
                connection.putheader(name, value.encode("latin-1"))
            connection.endheaders()
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()

    def test_the_token_is_for_the_zones_own_account_only(self):
        self.assertEqual(stat.S_IMODE((self.folder / "state/local_token").stat().st_mode), 0o600)
        self.assertEqual(stat.S_IMODE((self.folder / "state").stat().st_mode), 0o700)
        self.assertEqual(len(self.token), 26)

    def test_a_name_counts_with_the_token(self):
        status, answer = self.ask(("Zbs-Identity", ANA), ("Zbs-Token", self.token))
        self.assertEqual((status, answer["name"], answer["via_proxy"]), (200, ANA, False))
        self.assertEqual(self.ask(("Zbs-Identity", ANA), ("Zbs-Token", self.token), target="/v1/users")[0], 403)
        self.assertEqual(self.ask(("Zbs-Identity", "spiffe://alpha/operator/x"), ("Zbs-Token", self.token), target="/v1/users")[0], 200)
        self.assertEqual(self.ask(("Zbs-Identity", "spiffe://beta/operator/x"), ("Zbs-Token", self.token), target="/v1/users")[0], 403)

    def test_no_name_counts_without_the_token(self):
        wrong = ("b" if self.token[0] == "a" else "a") + self.token[1:]
        for tokens in ((), ("",), (wrong,), (self.token[:-1],), (self.token + "a",), (self.token.upper(),), (self.token + "\0",), (self.token, self.token), (wrong, self.token)):
            with self.subTest(tokens):
                status, problem = self.ask(("Zbs-Identity", ANA), *(("Zbs-Token", token) for token in tokens))
                self.assertIn((status, problem["code"]), ((401, "unauthenticated"), (400, "invalid_argument")))
                self.assertNotIn(self.token, json.dumps(problem))

    def test_what_is_no_name_is_nobody_even_with_the_token(self):
        for name in NO_NAMES:
            with self.subTest(name[:60]):
                self.assertEqual(self.ask(("Zbs-Identity", name), ("Zbs-Token", self.token))[0], 401)
        self.assertEqual(self.ask(("Zbs-Token", self.token))[0], 401)
        self.assertEqual(self.ask(("Zbs-Identity", ANA), ("Zbs-Identity", "spiffe://alpha/user/bob"), ("Zbs-Token", self.token))[0], 400)

    def test_the_operators_commands_use_the_token(self):
        done = subprocess.run([ZONE, "blocks", "--config", self.folder / "zone.toml"], capture_output=True, text=True, timeout=DEADLINE_S)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        done = subprocess.run([ZONE, "user", "add", "ana", "--config", self.folder / "zone.toml"], capture_output=True, text=True, timeout=DEADLINE_S)
        self.assertEqual(done.returncode, 8)
        self.assertIn("zbs-zone init", done.stderr)

    def operate(self, *words):
        return subprocess.run([ZONE, *words, "--config", self.folder / "zone.toml"], capture_output=True, text=True, timeout=DEADLINE_S)

    def test_commands_that_need_keys_say_so(self):
        print_of_one = "sha256:" + "0" * 64
        for code, words in ((8, ["user", "add", "ana"]), (8, ["peer", "accept", "beta", "--fingerprint", print_of_one]), (8, ["peer", "request", "beta", "--fingerprint", print_of_one]),
                            (3, ["renew", "--certificate", self.folder / "zone.toml"]), (3, ["operator"]), (2, ["enrol", "zbs-enrol-1+any+x"])):
            with self.subTest(words):
                done = self.operate(*words)
                self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
                self.assertIn("zbs-zone init", done.stderr)

    def test_commands_that_need_no_keys_work(self):
        self.assertEqual(self.operate("user", "list", "-o", "name").stdout, "")
        done = self.operate("block", "betta")
        self.assertEqual((done.returncode, done.stdout), (0, "blocked betta\n"))
        self.assertRegex(done.stderr, "no organisation 'betta'.*unblock betta")
        self.assertIn("betta", self.operate("blocks").stdout)
        self.assertEqual(self.operate("unblock", "betta").stdout, "unblocked betta\n")
        done = self.operate("user", "revoke", "nobody")
        self.assertEqual((done.returncode, done.stdout), (0, "blocked spiffe://alpha/user/nobody\n"))
        self.assertIn("no user 'nobody'", done.stderr)
        self.assertEqual(self.operate("unblock", "spiffe://alpha/user/nobody").returncode, 0)
        self.assertEqual(self.operate("peer", "list").returncode, 0)
        rows = self.operate("audit", "list").stdout.splitlines()
        self.assertIn("beginAudit", rows[1])
        self.assertIn("blockSubject", "".join(rows))
        self.assertRegex(self.operate("audit", "verify").stdout, r"^good: \d+ entries, \S+Z to \S+Z; head \d+:[0-9a-f]{64}\n.*--head\n$")

    def test_a_zone_that_drains_is_not_ready(self):
        self.assertEqual(self.ask(target="/readyz")[0], 200)
        self.operate("drain")
        self.addCleanup(self.operate, "undrain")
        status, problem = self.ask(target="/readyz")
        self.assertEqual((status, problem["code"]), (503, "unavailable"))
        self.assertIn("drains", problem["detail"])
        self.assertEqual(self.ask(target="/livez")[0], 200)
        self.operate("undrain")
        self.assertEqual(self.ask(target="/readyz")[0], 200)

    def test_a_zone_that_was_told_to_end_is_not_ready_and_then_gone(self):
        kept = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE_S)
        self.addCleanup(kept.close)
        seen = []

        def ready():
            try:
                kept.request("GET", "/readyz")
                response = kept.getresponse()
                response.read()
                return response.status
            except (OSError, http.client.HTTPException):
                return None  # this connection is closed
        self.assertEqual(ready(), 200)
        self.process.terminate()
        while self.process.poll() is None:
            seen.append(ready())
            if seen[-1] is None:
                kept.close()
        self.assertEqual(self.process.returncode, 0)
        ending = list(itertools.dropwhile(lambda status: status == 200, seen))  # from when it has heard the signal
        self.assertTrue(ending, "it said to the last that it is ready")
        self.assertLessEqual(set(ending), {503, None}, "ready again while it ended")
        with self.assertRaises(OSError):
            self.ask(target="/readyz")
        self.end()
        type(self).begin()

    def test_a_restart_keeps_the_token(self):
        before = self.token
        self.end()
        type(self).begin()
        self.assertEqual(self.token, before)
        self.assertEqual(self.ask(("Zbs-Identity", ANA), ("Zbs-Token", before))[0], 200)

    def test_without_certificates_it_listens_nowhere_else(self):
        for number, (listen, why) in enumerate((("0.0.0.0:0", "beyond loopback a zone needs keys"), ("192.0.2.7:0", "cannot bind 192.0.2.7:0"))):
            config = self.folder / f"open-{number}.toml"
            config.write_text(SETTINGS.format(folder=self.folder / f"open-{number}", listen=listen))
            done = subprocess.run([ZONE, "run", "--config", config], capture_output=True, text=True, timeout=DEADLINE_S)
            with self.subTest(listen):
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(why, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
