"""Two schedulers with one zone's keys: the registry and both report it, and the first goes on without a restart when the second stops.

usage: one_identity_test.py BIN SOURCE_DIR [unittest arguments]
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "support"))
import ports  # noqa: E402

DEADLINE_S = 60  # the bound that the operator is promised


def until(look, what):
    end = time.monotonic() + DEADLINE_S
    while not (found := look()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {DEADLINE_S} s: {what()}")
        time.sleep(0.1)
    return found


class OneIdentity(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="zbs-identity-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = dict(os.environ, HOME=folder.name)
        self.registry = ["--state", str(self.folder / "registry")]
        self.call("zbs-registry", "init", "--organisation", "grid", *self.registry)
        self.start("registry", "zbs-registry", "run", "--listen-port", str(ports.free_port()), "--allow-private-addresses", *self.registry)

    def start(self, name, program, *words):
        log = open(self.folder / f"{name}.log", "ab")
        self.addCleanup(log.close)
        process = subprocess.Popen([BIN / program, *words], stdout=log, stderr=log, env=self.environment)
        self.addCleanup(self.stop, process)
        until(lambda: "listening on" in self.log(name), lambda: self.log(name))
        return process

    @staticmethod
    def stop(process):
        if process.poll() is None:
            process.terminate()
        process.wait(DEADLINE_S)

    def log(self, name):
        return (self.folder / f"{name}.log").read_text()

    def run_command(self, program, *words):
        return subprocess.run([BIN / program, *words], capture_output=True, text=True, timeout=DEADLINE_S, env=self.environment)

    def call(self, program, *words):
        done = self.run_command(program, *words)
        self.assertEqual(done.returncode, 0, done)
        return done.stdout

    def configure(self, name):
        """A zone file of its own port and state folder; the name and organisation are the same in each."""
        path = self.folder / f"{name}.toml"
        path.write_text(f'name = "a"\norganisation = "org-a"\nstate = "{self.folder / name}"\nlisten = "127.0.0.1:{ports.free_port()}"\nallow_private_addresses = true\nrun_as = "self"\n'
                        '[[machine]]\nname = "n"\nprocessors = 2\n[timing]\nrenew_s = 0.5\nlease_s = 3\ndiscover_s = 0.5\n')
        return str(path)

    def check_of(self, config, name):
        """The line of `zbs-zone doctor`."""
        report = json.loads(self.run_command("zbs-zone", "doctor", "-o", "json", "--config", config).stdout)
        return next((check for check in report["checks"] if check["check"] == name), None)

    def listed(self):
        return json.loads(self.call("zbs-registry", "zone", "list", "-o", "json", *self.registry))["zones"][0]

    def test_both_and_the_registry_report_it_and_the_first_goes_on(self):
        first, copy = self.configure("first"), self.configure("copy")
        self.call("zbs-zone", "init", "--config", first)
        token = self.call("zbs-registry", "token", "--for", "org-a", *self.registry).strip()
        self.call("zbs-zone", "enrol", token, "--config", first)
        shutil.copytree(self.folder / "first", self.folder / "copy")  # as from a backup of that moment
        self.start("first", "zbs-zone", "run", "--config", first)
        until(lambda: (self.check_of(first, "registry") or {}).get("verdict") == "ok", lambda: self.log("first"))
        address = self.listed()["url"]
        second = self.start("copy", "zbs-zone", "run", "--config", copy)

        def both_report():
            refused, contested = self.check_of(copy, "registry") or {}, self.check_of(first, "registry") or {}
            return refused.get("verdict") == contested.get("verdict") == "fail" and (refused["found"], contested["found"])

        refused, contested = until(both_report, lambda: (self.log("first"), self.log("copy"), self.log("registry")))
        self.assertIn(f"is listed here and serves at {address}", refused)
        self.assertIn("another scheduler claims this zone: spiffe://org-a/zone/a at https://127.0.0.1:", contested)
        for config in (first, copy):
            ready = self.run_command("zbs-zone", "ready", "--config", config)
            self.assertEqual((ready.returncode, "another scheduler" in ready.stderr), (0, True), ready)
        rival = self.listed()["rival"]["url"]
        self.assertNotEqual(rival, address)
        self.assertEqual(self.listed()["url"], address)
        for log in ("first", "registry"):
            self.assertRegex(self.log(log), f"identity_claimed_twice.*{rival}")
        self.stop(second)
        until(lambda: self.check_of(first, "registry")["verdict"] == "ok", lambda: self.check_of(first, "registry"))
        self.assertNotIn("rival", self.listed())
        self.assertEqual(self.run_command("zbs-zone", "ready", "--config", first).stderr, "")


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv[1]).resolve()
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
