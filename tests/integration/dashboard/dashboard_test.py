"""The zone's pages and `zbs dashboard`, without a browser: dashboard_test.py BIN [unittest names]"""
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "federation"))
import federation  # noqa: E402
from federation import Federation, until  # noqa: E402


class Dashboard(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.f = Federation().__enter__()
        cls.addClassCleanup(cls.f.__exit__)
        cls.process = subprocess.Popen([federation.BIN + "/zbs", "dashboard"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=cls.f.environment)
        cls.addClassCleanup(cls.end)
        cls.address = cls.process.stdout.readline().strip()
        cls.host, cls.token = re.fullmatch(r"http://(127\.0\.0\.1:\d+)/\?token=([0-9a-f]{32})", cls.address).groups()
        cls.cookie = f"zbs_dashboard_{cls.host.split(':')[1]}={cls.token}"

    @classmethod
    def end(cls):
        cls.process.send_signal(signal.SIGTERM)
        cls.process.wait(30)
        cls.process.stdout.close()

    def zone(self, path, method="GET", body=None, who=None, headers=None):
        connection = http.client.HTTPSConnection(self.f.zone_url("a").removeprefix("https://"), timeout=30, context=self.f.tls(who and self.f.identity(who)))
        return self.ask(connection, method, path, body, headers or {})

    def proxy(self, path, method="GET", body=None, cookie=True, headers=None):
        connection = http.client.HTTPConnection(self.host, timeout=30)
        return self.ask(connection, method, path, body, {**({"Cookie": self.cookie} if cookie else {}), **(headers or {})})

    @staticmethod
    def ask(connection, method, path, body, headers):
        try:
            connection.request(method, path, body=body, headers={**({"Content-Type": "application/json"} if body else {}), **headers})
            reply = connection.getresponse()
            return reply.status, dict(reply.getheaders()), reply.read().decode()
        finally:
            connection.close()

    def files(self):
        return re.findall(r"assets/[A-Za-z0-9._-]+", self.zone("/")[2])

    def test_the_pages_are_built_by_the_node_of_debian_12_with_packages_whose_sources_are_not_named(self):
        folder = pathlib.Path(__file__).resolve().parents[3] / "services/zone_scheduler/dashboard"
        packages = json.loads((folder / "package-lock.json").read_text())["packages"]
        self.assertGreater(len(packages), 4)
        for name, package in packages.items():
            self.assertNotIn("resolved", package, name)
            allowed = package.get("engines", {}).get("node", "*").split("||")
            # 18.20, which Debian 12 has: one of "*", "^18...", ">=18" and less
            good = [one for one in map(str.strip, allowed) if one == "*" or one.startswith("^18.") or re.match(r">=(\d+)", one) and int(re.match(r">=(\d+)", one)[1]) <= 18]
            self.assertTrue(good, f"{name} wants node {' or '.join(allowed)}")

    def test_anybody_gets_a_page_that_says_how_the_zone_is_and_that_may_load_nothing_from_elsewhere(self):
        status, headers, page = self.zone("/")
        self.assertEqual((status, headers["Content-Type"], headers["Cache-Control"]), (200, "text/html; charset=utf-8", "no-store"))
        for part in ("default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"):
            self.assertIn(part, headers["Content-Security-Policy"].split("; "))
        self.assertEqual((headers["X-Content-Type-Options"], headers["Referrer-Policy"]), ("nosniff", "no-referrer"))
        for text in ("<h1>ZBS zone a</h1>", "Organisation: ", "Version: ", "State: takes work"):
            self.assertIn(text, page)
        self.assertNotIn("Processors", page)  # not for everybody, unless all figures are
        self.assertIsNone(re.search(r"(?i)https?://|<style|style=|onload=|<script>", page))

    def test_where_figures_are_public_the_plain_page_has_some(self):
        path = pathlib.Path(self.f.folder, "state", "b.toml")
        path.write_text(path.read_text() + "\n[metrics]\npublic = true\n")
        os.kill(self.f.service("zbs-zone", "b.toml"), signal.SIGHUP)
        where = self.f.zone_url("b").removeprefix("https://")

        def page():
            return self.ask(http.client.HTTPSConnection(where, timeout=30, context=self.f.tls(None)), "GET", "/", None, {})[2]
        until(lambda: "Processors in use: 0 of 4" in page(), 60, page)
        self.assertIn("Parts held or running: 0", page())

    def test_files_of_the_page_are_kept_for_long_and_others_are_not_there(self):
        for name in self.files():
            status, headers, text = self.zone("/" + name)
            self.assertEqual((status, headers["Cache-Control"]), (200, "public, max-age=31536000, immutable"))
            self.assertEqual(headers["Content-Type"].split(";")[0], "text/css" if name.endswith("css") else "text/javascript")
            self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
            self.assertGreater(len(text), 1000)
        for name in ("nothing.js", "..%2f..%2fzone.toml", "%2e%2e", "index.html"):
            self.assertEqual(self.zone("/assets/" + name)[0], 404, name)

    def test_a_page_of_another_site_changes_nothing_at_the_zone(self):
        host = self.f.zone_url("a").removeprefix("https://")
        wrong = self.zone("/v1/applications?dry_run=true", "POST", b"{}", "you", {"Origin": "https://evil.example"})
        self.assertEqual((wrong[0], "another site" in wrong[2]), (403, True))
        for origin in ("null", "http://" + host):
            self.assertEqual(self.zone("/v1/applications?dry_run=true", "POST", b"{}", "you", {"Origin": origin})[0], 403, origin)
        self.assertEqual(self.zone("/v1/applications?dry_run=true", "POST", b"{}", "you", {"Origin": "https://" + host})[0], 400)  # its own page: the body is bad

    def test_the_queue_says_where_and_until_when_parts_run(self):
        job = self.f.submit("-n", "2", "--walltime", "5m", "--no-record", "--", "/bin/sleep", "60")
        self.f.wait_state(job, ("running",), 60)
        status, _, text = self.zone("/v1/queue", who="you")
        rows = [row for row in json.loads(text)["parts"] if row["application"] == job]
        self.assertEqual((status, len(rows)), (200, 1))
        row = rows[0]
        self.assertEqual((row["walltime_s"], row["ranks"], len(row["places"])), (300, 2, 2))
        self.assertGreater(row["start_us"], 1_000_000_000_000_000)
        self.assertEqual({type(machine) for machine, _ in row["places"]}, {str})
        self.assertEqual(self.f.zbs("cancel", job).returncode, 0)
        self.f.wait_state(job, ("cancelled",), 60)

    def test_the_address_lets_a_browser_in_by_a_cookie_that_no_script_reads(self):
        status, headers, page = self.proxy(f"/?token={self.token}", cookie=False)
        self.assertEqual((status, headers["Set-Cookie"]), (200, self.cookie + "; Path=/; HttpOnly; SameSite=Strict"))
        self.assertIn("url=/", page)
        self.assertNotIn(self.token, page)
        self.assertNotIn("Set-Cookie", self.proxy("/?token=" + "0" * 32, cookie=False)[1])

    def test_without_the_cookie_nothing_is_passed_on(self):
        for cookie in (None, self.cookie[:-1], self.cookie + "0", self.cookie.replace("=", "x="), "x" + self.cookie):
            for path in ("/", "/v1/whoami", "/v1/events"):
                self.assertEqual(self.proxy(path, cookie=False, headers={"Cookie": cookie} if cookie else {})[0], 401, (cookie, path))
        self.assertEqual(self.proxy("/v1/whoami", headers={"Cookie": f"other=1; {self.cookie}; more=2"}, cookie=False)[0], 200)

    def test_other_names_of_this_machine_and_other_sites_are_refused(self):
        for host in ("evil.example", "localhost:" + self.host.split(":")[1], "127.0.0.1", "127.0.0.1:1"):
            self.assertEqual(self.proxy("/v1/whoami", headers={"Host": host})[0], 403, host)
            self.assertEqual(self.proxy(f"/?token={self.token}", headers={"Host": host}, cookie=False)[0], 403, host)
        for origin in ("https://evil.example", "null", "http://127.0.0.1:1", "https://" + self.host):
            self.assertEqual(self.proxy("/v1/whoami", headers={"Origin": origin})[0], 403, origin)
        self.assertEqual(self.proxy("/v1/whoami", headers={"Origin": "http://" + self.host})[0], 200)

    def test_it_speaks_for_the_user_and_passes_pages_calls_and_refusals_on(self):
        self.assertEqual(json.loads(self.proxy("/v1/whoami")[2])["name"], json.loads(self.zone("/v1/whoami", who="you")[2])["name"])
        self.assertEqual(self.proxy("/")[2], self.zone("/")[2])
        self.assertIn("default-src 'none'", self.proxy("/")[1]["Content-Security-Policy"])
        for name in self.files():
            there, here = self.zone("/" + name), self.proxy("/" + name)
            self.assertEqual((here[0], here[1]["Content-Type"], here[2]), (200, there[1]["Content-Type"], there[2]))
        self.assertEqual(self.proxy("/v1/applications?limit=1&nothing=a%20%26b")[0], 400)
        self.assertIn("a%20", self.proxy("/v1/applications/a%2520b")[2] + "a%20")
        self.assertEqual(self.proxy("/v1/audit")[0], 403)
        self.assertEqual(self.proxy("/v1/applications", "POST", b"{}")[0], 400)
        self.assertEqual(self.proxy("/v1/applications/" + "0" * 26, "DELETE")[0], 404)

    def test_a_body_that_is_no_json_by_its_type_is_refused(self):
        for media in ("text/plain", "application/x-www-form-urlencoded", ""):
            self.assertEqual(self.proxy("/v1/applications", "POST", b"{}", headers={"Content-Type": media})[0], 415, media)

    def test_what_the_browser_has_is_not_sent_again(self):
        def asked(method, *known):
            connection = http.client.HTTPConnection(self.host, timeout=30)
            connection.putrequest(method, "/v1/whoami")
            connection.putheader("Cookie", self.cookie)
            for line in known:
                connection.putheader("If-None-Match", line)
            connection.endheaders()
            answer = connection.getresponse()
            answer.read()
            connection.close()
            return answer.status, answer.getheader("ETag")
        status, tag = asked("GET")
        self.assertEqual(status, 200)
        for method in ("GET", "HEAD"):
            for known in ((tag,), ('"x"', tag), ('"x", "y"', f'"z", W/{tag}', '"u"'), ("*",)):
                self.assertEqual(asked(method, *known)[0], 304, (method, known))
            self.assertEqual(asked(method, '"x"', '"y"'), (200, tag))

    def test_events_and_output_come_through_as_they_happen(self):
        connection = http.client.HTTPConnection(self.host, timeout=60)
        self.addCleanup(connection.close)
        connection.request("GET", "/v1/events", headers={"Cookie": self.cookie})
        stream = connection.getresponse()
        self.assertEqual((stream.status, stream.headers["Content-Type"]), (200, "text/event-stream"))
        job = self.f.submit("-n", "2", "--no-record", "--", "/bin/echo", "through the proxy")
        states, last = [], ""
        while states[-1:] != ["completed"]:
            line = stream.readline().decode()
            self.assertTrue(line, "the stream ended")
            if line.startswith("id: "):
                last = line[4:].strip()
            if line.startswith("data: "):
                event = json.loads(line[6:])
                if event["application"] == job and "part" not in event:
                    states.append(event["state"])
        self.assertEqual((states[0], last.isdigit()), ("accepted", True))
        status, headers, text = self.proxy(f"/v1/applications/{job}/logs/0")
        self.assertEqual((status, text, headers["Zbs-Next-Offset"], headers["Zbs-Complete"]), (200, "through the proxy\n", "18", "true"))
        # A reader that returns after the end receives no more; one that names an earlier event receives the rest.
        self.assertEqual(self.proxy(f"/v1/applications/{job}/events", headers={"Last-Event-ID": last})[0], 204)

    def test_it_ends_when_it_is_told_to_with_a_reader_there(self):
        process = subprocess.Popen([federation.BIN + "/zbs", "dashboard"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=self.f.environment)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        host, token = re.fullmatch(r"http://(127\.0\.0\.1:\d+)/\?token=([0-9a-f]{32})", process.stdout.readline().strip()).groups()
        self.assertNotEqual(token, self.token)
        connection = http.client.HTTPConnection(host, timeout=60)
        self.addCleanup(connection.close)
        connection.request("GET", "/v1/events", headers={"Cookie": f"zbs_dashboard_{host.split(':')[1]}={token}"})
        self.assertEqual(connection.getresponse().status, 200)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), 0)

    def test_without_credentials_or_a_zone_it_says_what_is_missing(self):
        done = self.f.zbs("dashboard", env={"ZBS_CREDENTIALS": self.f.folder + "/nobody"})
        self.assertEqual((done.stdout, done.returncode != 0), ("", True))
        self.assertIn("zbs: ", done.stderr)


if __name__ == "__main__":
    federation.BIN = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
