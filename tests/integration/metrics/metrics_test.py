"""Figures of zones: metrics_test.py BIN SOURCE [unittest names]

What jobs have done is what the figures say; Prometheus' own parser takes both texts without complaint, a real Prometheus collects them with an operator's certificate; the
dashboard names no figure that is not there.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.parse
import urllib.request

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "federation"), str(pathlib.Path(__file__).resolve().parents[2] / "support")]
import federation  # noqa: E402
from federation import Federation, until  # noqa: E402
from ports import free_port  # noqa: E402

SKIPPED = 77
OPEN = "application/openmetrics-text; version=1.0.0; charset=utf-8"
OLD = "text/plain; version=0.0.4; charset=utf-8"
SAMPLE = re.compile(r'^([a-z_]+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


def samples(text):
    """(name, labels as a sorted tuple) -> number; each once."""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, labels, number = SAMPLE.match(line).groups()
        key = (name, tuple(sorted(LABEL.findall(labels or ""))))
        assert key not in found, f"{key} twice"
        found[key] = float(number)
    return found


def total(found, name, **labels):
    """Sum of the series with these labels."""
    return sum(number for (other, pairs), number in found.items() if other == name and set(labels.items()) <= set(pairs))


class Metrics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.f = Federation().__enter__()
        cls.addClassCleanup(cls.f.__exit__)
        cls.submitted = {"completed": [cls.f.submit("-n", "12", "--no-record", "--", "/bin/true"), cls.f.submit("-n", "2", "--no-record", "--", "/bin/true")],
                         "failed": [cls.f.submit("-n", "1", "--no-record", "--", "/bin/false")],
                         "rejected": [cls.f.submit("-n", "1000", "--", "/bin/true")]}
        for state, jobs in cls.submitted.items():
            for job in jobs:
                cls.f.wait_state(job, (state,), 60)

    def scrape(self, zone="a", who="you", accept=OPEN):
        headers = {"Accept": accept} if accept else {}
        request = urllib.request.Request(self.f.zone_url(zone) + "/metrics", headers=headers)
        with urllib.request.urlopen(request, timeout=30, context=self.f.tls(self.f.identity(who) if who else None)) as answer:
            return answer.headers["Content-Type"], answer.read().decode()

    def figures(self, zone="a", who="you"):
        return samples(self.scrape(zone, who)[1])

    def test_figures_say_what_the_jobs_have_done(self):
        found = self.figures()
        for state, jobs in self.submitted.items():
            self.assertEqual(total(found, "zbs_zone_applications_ended_total", state=state), len(jobs), state)
            self.assertEqual(total(found, "zbs_zone_application_turnaround_seconds_count", state=state), len(jobs), state)
        self.assertEqual(total(found, "zbs_zone_applications_submitted_total"), 4)
        self.assertEqual(total(found, "zbs_zone_application_wait_seconds_count"), 3, "those that ran")
        self.assertGreater(total(found, "zbs_zone_application_wait_seconds_sum"), 0)
        self.assertEqual(total(found, "zbs_zone_application_wait_seconds_bucket", le="+Inf"), 3)
        self.assertEqual(total(found, "zbs_zone_applications_ended_total", state="cancelled"), 0)
        self.assertGreaterEqual(total(found, "zbs_zone_cycle_seconds_count", cycle="plan"), 3)
        self.assertGreater(total(found, "zbs_zone_store_commit_seconds_count"), 0)
        self.assertGreater(total(found, "zbs_zone_store_bytes"), 4096)
        self.assertGreater(total(found, "zbs_zone_certificate_left_seconds"), 3600)
        for peer in "bc":
            for call in ("capacity", "hold", "commit", "launch"):
                self.assertGreaterEqual(total(found, "zbs_zone_peer_call_seconds_count", peer=peer, call=call), 1, (peer, call))

    def test_holds_and_processors_add_up_in_every_zone(self):
        until(self.f.idle, 60, "zones without parts")
        for zone in "abc":
            found = self.figures(zone, f"operator {zone}")
            granted = total(found, "zbs_zone_holds_total", outcome="granted")
            self.assertGreaterEqual(granted, 1)
            self.assertEqual(total(found, "zbs_zone_parts_ended_total"), granted, "all parts have ended")
            self.assertEqual(total(found, "zbs_zone_parts"), 0)
            _, nodes = self.f.call(self.f.zone_url(zone) + "/v1/nodes", who=f"operator {zone}")
            self.assertEqual(total(found, "zbs_zone_processors"), sum(node["processors"] for node in nodes["nodes"]))
            self.assertEqual(total(found, "zbs_zone_processors", state="free"), total(found, "zbs_zone_processors"))

    def test_what_runs_is_used(self):
        bea = self.f.log_in("b", "bea")  # home is another zone than that of the other tests
        job = self.f.zbs("--credentials", bea, "submit", "-n", "2", "--no-record", "--", "/bin/sleep", "60").stdout.strip()
        self.addCleanup(self.f.zbs, "--credentials", bea, "cancel", job)
        until(lambda: total(self.figures("b", "operator b"), "zbs_zone_applications_open", state="running") == 1, 60, "a running application")
        used = sum(total(self.figures(zone, f"operator {zone}"), "zbs_zone_processors", state="used") for zone in "abc")
        self.assertEqual(used, 2)

    def test_only_insiders_read_them_unless_the_operator_opens_them(self):
        for who, status in ((None, 401), ("zone b", 403), ("operator b", 403)):
            with self.assertRaises(urllib.error.HTTPError) as refused:
                self.scrape("a", who)
            self.assertEqual(refused.exception.code, status, who)
        settings = pathlib.Path(f"{self.f.folder}/state/a.toml")
        before = settings.read_text()
        zone = self.f.service("zbs-zone", "a.toml")
        settings.write_text(before + "\n[metrics]\npublic = true\n")
        os.kill(zone, signal.SIGHUP)

        def opened():
            try:
                return self.scrape("a", None)
            except urllib.error.HTTPError:
                return None
        self.assertEqual(until(opened, 60, "figures for everybody")[0], OPEN)
        settings.write_text(before)
        os.kill(zone, signal.SIGHUP)
        until(lambda: opened() is None, 60, "closed figures")

    def test_promtool_has_nothing_to_say_against_them(self):
        media, text = self.scrape(accept="text/plain;version=0.0.4")
        self.assertEqual(media, OLD)
        checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=60)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""), checked.stdout)
        damaged = subprocess.run(["promtool", "check", "metrics"], input=text + "zbs_zone_parts{ 1\n", capture_output=True, text=True, timeout=60)
        self.assertNotEqual(damaged.returncode, 0)

    def test_a_registry_has_figures_too(self):
        state = pathlib.Path(f"{self.f.folder}/state/registry")

        def scrape(keys, accept=OPEN):
            request = urllib.request.Request((state / "address").read_text().strip() + "/metrics", headers={"Accept": accept})
            context = self.f.tls(str(keys) if keys else None)
            context.load_verify_locations(state / "identity/bundle.pem")
            with urllib.request.urlopen(request, timeout=30, context=context) as answer:
                return answer.headers["Content-Type"], answer.read().decode()
        media, text = scrape(state / "identity/operator")
        self.assertEqual(media, OPEN)
        found = samples(text)
        self.assertEqual(total(found, "zbs_registry_zones", state="live"), 3)
        self.assertEqual(total(found, "zbs_registry_zones", state="silent"), 0)
        self.assertGreaterEqual(total(found, "zbs_registry_requests_total", operation="listZones", code="200"), 1)
        self.assertGreater(total(found, "zbs_registry_store_bytes"), 4096)
        self.assertGreater(total(found, "zbs_registry_certificate_left_seconds"), 3600)
        for keys, status in ((None, 401), (self.f.identity("zone a"), 403), (self.f.identity("you"), 403)):
            with self.assertRaises(urllib.error.HTTPError) as refused:
                scrape(keys)
            self.assertEqual(refused.exception.code, status)
        checked = subprocess.run(["promtool", "check", "metrics"], input=scrape(state / "identity/operator", "text/plain")[1], capture_output=True, text=True, timeout=60)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""), checked.stdout)

    def test_prometheus_collects_them(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="zbs-prometheus-"))
        self.addCleanup(shutil.rmtree, folder, True)
        keys, port = self.f.identity("operator a"), free_port()
        (folder / "prometheus.yml").write_text(f"""
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
  - job_name: zbs
    scheme: https
    tls_config: {{cert_file: {keys}/certificate.pem, key_file: {keys}/key.pem, ca_file: {keys}/bundle.pem}}
    static_configs: [{{targets: ['{urllib.parse.urlsplit(self.f.zone_url("a")).netloc}']}}]
""")
        with open(folder / "log", "w") as log:
            server = subprocess.Popen(["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{port}"],
                                      stdout=log, stderr=log)
        self.addCleanup(server.wait, 60)
        self.addCleanup(server.terminate)

        def ask(query):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?query={urllib.parse.quote(query)}", timeout=10) as answer:
                    return json.load(answer)["data"]["result"]
            except OSError:
                return []
        until(lambda: (up := ask("up")) and up[0]["value"][1] == "1", 60, lambda: (folder / "log").read_text())
        self.assertEqual(ask("zbs_zone_applications_submitted_total")[0]["metric"]["job"], "zbs")
        self.assertEqual(float(ask("sum(zbs_zone_processors)")[0]["value"][1]), total(self.figures(), "zbs_zone_processors"))
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/metadata", timeout=10) as answer:
            known = json.load(answer)["data"]
        # Units come with OpenMetrics only: it is that text which was read.
        self.assertEqual(known["zbs_zone_store_bytes"][0], {"type": "gauge", "help": "Size of the database's files.", "unit": "bytes"})
        self.assertEqual(known["zbs_zone_build"][0]["type"], "info")

    def test_the_dashboard_names_figures_that_are_there(self):
        panels = json.loads((SOURCE / "docs/grafana/zbs_zone.json").read_text())["panels"]
        named = {name for panel in panels for target in panel["targets"] for name in re.findall(r"\b(?:zbs_zone|process)_[a-z_]+", target["expr"])}
        there = {name for name, _ in self.figures()}
        # Nothing has failed or was refused here, perhaps.
        at_times = {"zbs_zone_peer_call_errors_total", "zbs_zone_holds_refused_total"}
        self.assertEqual(named - there - at_times, set())
        self.assertGreater(len(named), 15)
        families = {re.sub(r"_(bucket|sum|count)$", "", name) for name in there}
        self.assertEqual(families - {re.sub(r"_(bucket|sum|count)$", "", name) for name in named}, set(), "figures that the dashboard does not show")


if __name__ == "__main__":
    for program in ("promtool", "prometheus"):
        if not shutil.which(program):
            print(f"{program} is not installed: it is in Debian's package prometheus")
            sys.exit(SKIPPED)
    federation.BIN, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
