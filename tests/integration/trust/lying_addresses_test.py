"""Addresses that a registry or a peer may not make a zone call: loopback, link-local and private ones, under every name for them.

usage: lying_addresses_test.py BIN SOURCE_DIR [unittest arguments]

Runs in a network of its own (`unshare -rn`), where public addresses lie on the loopback device and a trap listens on all: the zone is set
up as on the internet, without allow_private_addresses.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from live import DEADLINE_S, Client, federation, own, read, until
from identities import run
from lying_registry import LyingRegistry, Trap, sign
from world import World

PUBLIC, ALSO_PUBLIC = "11.0.0.1", "11.0.0.2"
SKIPPED = 77  # as CMakeLists.txt tells ctest
PRIVATE = ["169.254.169.254", "10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1"]
FORBIDDEN = [*PRIVATE, "127.0.0.1", "127.8.8.8", "0.0.0.0", "localhost", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "2852039166",
             "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:a9fe:a9fe]", "[fe80::1]", "[fd00::1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]"]


class PublicWorld(World):
    """A registry that lies and zone a, on a public address; organisation beta is believed, and has no zone but those made up."""

    def begin(self):
        folder = self.folder
        for name, text in (("a", f'[[peering]]\norganisations = ["beta"]\nbundle = "{folder}/b/identity/bundle.pem"\n[timing]\ndiscover_s = 0.2\n'), ("b", "")):
            organisation = {"a": "alpha", "b": "beta"}[name]
            (folder / f"{name}.toml").write_text(f'name = "{name}"\norganisation = "{organisation}"\nstate = "{folder}/{name}"\nlisten = "{PUBLIC}:0"\nrun_as = "self"\n'
                                                 f'[[machine]]\nname = "m"\nprocessors = 2\n')
            self.fingerprint = re.search(r"sha256:\w+", run(self.zone, "init", "--config", folder / f"{name}.toml")).group()
            with open(folder / f"{name}.toml", "a") as file:
                file.write(text)
        run(self.registry, "init", "--state", folder / "registry", "--organisation", "grid")
        self.start("registry", self.registry, "run", "--state", folder / "registry", "--listen-address", PUBLIC)
        made = run(self.registry, "token", "--state", folder / "registry", "--for", "alpha")
        run(self.zone, "enrol", re.search(r"zbs-enrol-1\+\S+", made).group(), "--config", folder / "a.toml")
        self.stop()  # the real one has done its work
        self.services.clear()
        self.liar = LyingRegistry(PUBLIC, self.ports["registry"], own(folder / "registry/identity"))
        self.start("a", self.zone, "run", "--config", folder / "a.toml")
        self.cas = {"alpha": folder / "a/identity", "beta": folder / "b/identity"}


class Addresses(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="zbs-addresses-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        cls.world = PublicWorld(cls.folder, federation.BIN + "/zbs-registry", federation.BIN + "/zbs-zone")
        cls.addClassCleanup(cls.world.stop)
        cls.world.begin()
        cls.addClassCleanup(cls.world.liar.close)

    def setUp(self):
        self.trap, self.reached = Trap("::"), Trap("::")
        self.addCleanup(self.trap.close)
        self.addCleanup(self.reached.close)
        self.addCleanup(setattr, self.world.liar, "entries", [])
        self.urls = {f"forbidden-{number}": f"https://{host}:{self.trap.port}" for number, host in enumerate(FORBIDDEN)}
        self.urls["good"] = f"https://{ALSO_PUBLIC}:{self.reached.port}"

    def log_of(self, event):
        return [line for line in read(self.folder / "a.log").splitlines() if event in line]

    def assert_refused(self, lines):
        """Each address has its own refusal that names it as what it is, and nothing was called but the good one."""
        for name, url in self.urls.items():
            if name != "good":
                with self.subTest(url):
                    self.assertTrue([line for line in lines if re.search(rf"\b{name}\b", line) and "is not called, because it is" in line], lines)
        self.assertEqual(self.trap.calls, 0)

    def test_the_registry_makes_a_zone_call_none(self):
        bundle = (self.folder / "b/identity/bundle.pem").read_text()
        for name, url in self.urls.items():
            entry = {"name": name, "organisation": "beta", "contact": "x", "url": url, "categories": ["mpi"], "interface_version": 1, "lease_s": 40,
                     "standing": "active", "issued_us": time.time_ns() // 1000, "bundle": bundle}
            self.world.liar.entries.append(sign(self.world.issue("beta", "zone", name), json.dumps(entry)))
        until(lambda: self.reached.calls > 0, DEADLINE_S, f"the public address is not called: {self.log_of('refused')}")
        seen = self.world.liar.looks
        until(lambda: self.world.liar.looks > seen + 2, DEADLINE_S, "the zone does not look")
        self.assert_refused(self.log_of("peering_failed"))

    def test_a_peer_makes_a_zone_call_none(self):
        bundle = (self.folder / "b/identity/bundle.pem").read_text()
        for name, url in self.urls.items():
            identity, at = self.world.issue("beta", "zone", name), time.time_ns() // 1000
            lines = f"peering of spiffe://beta/zone/{name}\nat zone spiffe://alpha/zone/a\naddress {url}\ninterface 1\nbundle {self.world.fingerprint}\ntime {at}\n"
            signed = sign(identity, lines, "zbs peering request 1")
            client = Client(self.world.ports["a"], None, PUBLIC)
            status, answer = client.ask("POST", "/v1/peerings", {"zone": name, "organisation": "beta", "url": url, "interface_version": 1, "bundle": bundle, "at_us": at,
                                                                 "chain": signed["chain"], "signature": signed["signature"]})
            client.close()
            self.assertEqual((status, json.loads(answer).get("state")), (200, "accepted"), f"{url}: {answer}")
        until(lambda: self.reached.calls > 0, DEADLINE_S, "the public address is not called")  # within 15 s all known zones are asked for their trust
        until(lambda: len(self.log_of("trust_not_refreshed")) >= len(self.urls), DEADLINE_S, "not all were tried")
        self.assert_refused(self.log_of("trust_not_refreshed"))


def enter_network():
    """Starts this test again in a network of its own, where nothing is but what it lays out; skipped where that is forbidden."""
    if os.environ.get("ZBS_TEST_NETWORK"):
        for command in (["link", "set", "lo", "up"], *(["addr", "add", f"{address}/32", "dev", "lo"] for address in (PUBLIC, ALSO_PUBLIC, *PRIVATE)),
                        ["addr", "add", "fd00::1/128", "dev", "lo"]):
            subprocess.run(["ip", *command], check=True, timeout=DEADLINE_S)
    elif subprocess.run(["unshare", "-rn", "ip", "link"], capture_output=True).returncode == 0:
        os.execvpe("unshare", ["unshare", "-rn", sys.executable, "-B", *sys.argv], dict(os.environ, ZBS_TEST_NETWORK="1"))
    else:
        print("skipped: no network namespaces here ('unshare -rn ip link' fails; package iproute2)")
        sys.exit(SKIPPED)


if __name__ == "__main__":
    federation.BIN = os.path.abspath(sys.argv[1])
    enter_network()
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
