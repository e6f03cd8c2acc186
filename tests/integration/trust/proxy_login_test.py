"""Proxies that grid-proxy-init made, on live zones: they act for their user within what they are for.

usage: proxy_login_test.py BIN SOURCE_DIR [unittest arguments]
"""
import json
import os
import pathlib
import sys
import unittest

from grid_federation import GRID_PROXY_INIT, GridFederation
from identities import run
from live import ZONES, federation, own


class ProxyLogin(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.f = GridFederation().__enter__()
        cls.addClassCleanup(cls.f.__exit__)
        cls.ana = cls.f.log_in("a", "ana")

    def whoami(self, proxy):
        done = self.f.act(self.ana, proxy, "whoami", "-o", "json")
        return done.returncode, json.loads(done.stdout) if done.returncode == 0 else done.stderr

    def test_a_proxy_is_its_user(self):
        proxy = self.f.grid_proxy(self.ana, "-rfc")
        code, who = self.whoami(proxy)
        self.assertEqual((code, who["name"], who["via_proxy"], who["limited"]), (0, "spiffe://org-a/user/ana", True, False))
        self.assertIn("proxy", self.f.act(self.ana, proxy, "whoami").stdout)

    def test_a_proxy_submits_to_three_zones(self):
        done = self.f.act(self.ana, self.f.grid_proxy(self.ana, "-rfc", "-hours", "2"), "run", "-n", "12", "--", "/bin/sh", "-c", "echo $ZBS_ZONE")
        self.assertEqual((done.returncode, sorted(set(done.stdout.split()))), (0, list(ZONES)), done.stderr)

    def test_a_limited_proxy_reads_but_does_not_submit(self):
        proxy = self.f.grid_proxy(self.ana, "-rfc", "-limited")
        code, who = self.whoami(proxy)
        self.assertEqual((code, who["limited"]), (0, True))
        self.assertEqual(self.f.act(self.ana, proxy, "list").returncode, 0)
        done = self.f.act(self.ana, proxy, "submit", "-n", "1", "--", "/bin/true")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("limited proxy", done.stderr)
        self.assertEqual(json.loads(self.f.act(self.ana, proxy, "list", "-o", "json").stdout), {"version": 1, "applications": []})

    def test_what_is_no_good_proxy_is_refused_with_the_reason(self):
        for options, word in ((("-rfc", "-independent"), "independent"), (("-old",), "legacy"), (("-rfc", "-valid", "25:00"), "24 h")):
            with self.subTest(options):
                code, said = self.whoami(self.f.grid_proxy(self.ana, *options))
                self.assertEqual(code, 4, said)
                self.assertIn(word, said)

    def test_an_expired_proxy_is_refused(self):
        key, request = (pathlib.Path(self.f.folder) / name for name in ("expired.key", "expired.csr"))
        run("openssl", "req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", request, "-subj", "/CN=x")
        chain = self.f.organisations.sign_proxy(own(pathlib.Path(self.ana)), request.read_text(), "", seconds=-30, language="id-ppl-inheritAll")
        leaf, rest = chain.split("-----END CERTIFICATE-----\n", 1)
        proxy = pathlib.Path(self.f.folder) / "expired-proxy"
        proxy.write_text(f"{leaf}-----END CERTIFICATE-----\n{key.read_text()}{rest}")  # the order of such files
        proxy.chmod(0o600)
        code, said = self.whoami(proxy)
        self.assertEqual(code, 4, said)
        self.assertIn("expired", said)

    def test_a_proxy_that_others_can_read_is_not_used(self):
        proxy = self.f.grid_proxy(self.ana, "-rfc")
        proxy.chmod(0o644)
        code, said = self.whoami(proxy)
        self.assertEqual(code, 4)
        self.assertIn(f"chmod 600 {proxy}", said)


if __name__ == "__main__":
    if not os.path.exists(GRID_PROXY_INIT):
        print(f"skipped: {GRID_PROXY_INIT} is missing: apt-get install globus-proxy-utils")
        sys.exit(77)  # as CMakeLists.txt tells ctest
    federation.BIN = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
