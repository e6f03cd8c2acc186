#!/usr/bin/python3
"""A registry and a zone at addresses of IPv6, and at names that have them: addresses_test.py PROGRAMS_FOLDER

Each case initialises both, enrols the zone and runs a job. They live in a network namespace of the test's own, which needs root; without, exit code 77 (skipped).
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAMS = pathlib.Path(sys.argv[1]).resolve()
INSIDE = "ZBS_TEST_IN_NAMESPACE"
SIX, FOUR = "2a01:4f8:1::1", "88.99.1.1"  # public ones: private addresses need a setting
HOSTS = f"127.0.0.1 localhost\n{SIX} dual.example.org\n{FOUR} dual.example.org\n{SIX} six.example.org\n{FOUR} four.example.org\n"
DEADLINE_S = 60


def until(condition, what):
    end = time.monotonic() + DEADLINE_S
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"after {DEADLINE_S} s: {what()}")
        time.sleep(0.1)


class Addresses(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="zbs-addresses-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = dict(os.environ, HOME=folder.name)

    def start(self, program, *words):
        log = open(self.folder / f"{program}.log", "w")
        self.addCleanup(log.close)
        process = subprocess.Popen([PROGRAMS / program, "run", *words], stdout=log, stderr=log, env=self.environment)
        self.addCleanup(process.wait, DEADLINE_S)
        self.addCleanup(process.terminate)

    def ask(self, program, *words):
        return subprocess.run([PROGRAMS / program, *words], capture_output=True, text=True, timeout=DEADLINE_S, env=self.environment)

    def good(self, program, *words):
        done = self.ask(program, *words)
        self.assertEqual(done.returncode, 0, (done, *[(log.name, log.read_text()[-1500:]) for log in self.folder.glob("*.log")]))
        return done.stdout

    def serve_and_run(self, listen, advertise, private=False):
        registry, config = str(self.folder / "registry"), str(self.folder / "z.toml")
        self.good("zbs-registry", "init", "--state", registry, "--organisation", "grid")
        self.start("zbs-registry", "--state", registry, "--listen-address", listen, "--advertise", advertise, "--listen-port", "7000", *(["--allow-private-addresses"] if private else []))
        host = f"[{listen}]" if ":" in listen else listen
        pathlib.Path(config).write_text(f'name = "z"\norganisation = "o"\nstate = "{self.folder}/z"\nlisten = "{host}:7001"\nadvertise = "{advertise}"\nallow_private_addresses = {str(private).lower()}\n'
                                        'run_as = "self"\nshared_memory = true\n[[machine]]\nname = "n"\nprocessors = 2\n')
        self.good("zbs-zone", "init", "--config", config)
        until(lambda: self.ask("zbs-registry", "token", "--state", registry, "--for", "o").returncode == 0, lambda: (self.folder / "zbs-registry.log").read_text())
        self.good("zbs-zone", "enrol", self.good("zbs-registry", "token", "--state", registry, "--for", "o").strip(), "--config", config)
        self.start("zbs-zone", "--config", config)
        until(lambda: self.ask("zbs-zone", "ready", "--config", config).returncode == 0, lambda: (self.folder / "zbs-zone.log").read_text())
        until(lambda: "live" in self.ask("zbs-registry", "zone", "list", "--state", registry).stdout, lambda: (self.good("zbs-registry", "zone", "list", "--state", registry), [log.read_text()[-2500:] for log in self.folder.glob("*.log")]))
        login = self.good("zbs-zone", "user", "add", "ana", "--config", config).splitlines()[-1].split()
        self.good(*login)
        self.assertEqual(self.good("zbs", "run", "-q", "-n", "2", "--", "echo", "ran"), "ran\nran\n")

    def test_a_name_with_an_address_of_ipv4(self):
        self.serve_and_run("0.0.0.0", "four.example.org")

    def test_a_name_with_addresses_of_both(self):
        self.serve_and_run("::", "dual.example.org")

    def test_a_name_with_both_of_which_only_the_second_answers(self):
        self.serve_and_run("0.0.0.0", "dual.example.org")

    def test_a_name_with_an_address_of_ipv6(self):
        self.serve_and_run("::", "six.example.org")

    def test_a_literal(self):
        self.serve_and_run(SIX, SIX)

    def test_a_literal_in_another_notation(self):
        self.serve_and_run(SIX, "2A01:04F8:0001:0:0:0:0:1")

    def test_loopback(self):
        self.serve_and_run("::1", "::1", private=True)


def enter():
    """Goes on inside of namespaces with these addresses and names."""
    if os.environ.get(INSIDE):
        for words in (("link", "set", "lo", "up"), ("addr", "add", SIX + "/128", "dev", "lo"), ("addr", "add", FOUR + "/32", "dev", "lo")):
            subprocess.run(["ip", *words], check=True)
        with tempfile.NamedTemporaryFile("w") as hosts:
            hosts.write(HOSTS)
            hosts.flush()
            subprocess.run(["mount", "--bind", hosts.name, "/etc/hosts"], check=True)
            return unittest.main(argv=[sys.argv[0], "-v", *sys.argv[2:]])
    if os.geteuid() != 0 or subprocess.run(["unshare", "-n", "-m", "true"], stderr=subprocess.DEVNULL).returncode != 0:
        print("skipped: a network namespace cannot be made here (it needs root)")
        return sys.exit(77)
    os.environ[INSIDE] = "1"
    return os.execvp("unshare", ["unshare", "-n", "-m", sys.executable, "-B", *sys.argv])


if __name__ == "__main__":
    enter()
