"""What a zone measures between machines whose agents are a known delay and rate apart: machine_links_test.py BIN SOURCE [unittest names]

Zone and agent n1 are at one site, agent n2 at another (tests/support/wan.py). BIN holds the programs and support/, SOURCE is the root of the
repository. Skipped without root or /dev/net/tun.
"""
import pathlib
import statistics
import sys
import tempfile
import unittest

PROGRAMS, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
sys.path[:0] = [str(SOURCE / "tests/support"), str(SOURCE / "tests/integration/node")]
from agents import Agents, Contract, own, until  # noqa: E402
from wan import Line, Wan, why_not  # noqa: E402

SKIPPED = 77  # as CMakeLists.txt tells ctest
DELAY_S, WITHIN_S, RATE_BPS = 0.01, 0.002, 20e6
DECLARED_S = 0.003
PROBES = 5  # of each way, before the figures are looked at
SITES = {"zone": "a", "n1": "a", "n2": "b"}


class World(Agents):
    def __init__(self, folder, wan):
        self.wan, self.network = wan, ""
        super().__init__(folder, PROGRAMS)

    def zone_text(self, name, port):
        machines = "".join(f'\n[[machine]]\nname = "{machine}"\nprocessors = 1\nagent = true\n' for machine in ("n1", "n2"))
        return f"""
name = "{name}-one"
organisation = "{name}"
state = "{self.folder}/{name}"
listen = "{self.address_of("zone")}:{port}"
allow_private_addresses = true
run_as = "self"
shared_memory = true
[sensors]
probe_s = 1
{self.network}
{machines}"""

    def enter(self, name):
        return self.wan.enter(SITES[name])

    def address_of(self, name):
        return self.wan.address(SITES[name])

    def links(self):
        reply = self.ask_zone("GET", "/v1/links", own(self.cas["alpha"] / "operator"))
        Contract("zone").check("GET", "/v1/links", reply)
        return reply.json["machines"]

    def measured(self, probes):
        """The links between machines, once each way was measured so often; None before."""
        links = self.links()
        enough = [pair for pair in links["worst"] if len(pair.get("delay", {}).get("values", ())) >= probes and not pair["failures"]]
        return links if len(enough) == 2 else None

    def planned_with(self):
        reply = self.ask_zone("POST", "/v1/capacity", self.zone_identity(), {"user": "spiffe://alpha/user/ana", "processors": 1, "walltime_s": 60, "zones": []})
        assert reply.status == 200, reply.body
        return reply.json["within_zone"]


class MachinesApart(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="zbs-machine-links-")
        cls.addClassCleanup(folder.cleanup)
        cls.wan = Wan("ab", str(PROGRAMS / "support"))
        cls.addClassCleanup(cls.wan.close)
        cls.wan.join_all(Line(DELAY_S, RATE_BPS))
        cls.wan.hosts["a"].join()  # calls of this test come from where the zone is
        cls.world = World(pathlib.Path(folder.name), cls.wan)
        cls.addClassCleanup(cls.world.stop)
        for machine in ("n1", "n2"):
            cls.world.add(machine, "shared_memory = true")

    def test_the_figures_are_those_of_the_line_until_the_operator_declares_others(self):
        links = until(lambda: self.world.measured(PROBES), "both ways are not measured often enough", 60)
        self.assertEqual({(pair["from"], pair["to"]) for pair in links["worst"]}, {("n1", "n2"), ("n2", "n1")})
        for pair in links["worst"]:
            way, delays, rates = f"{pair['from']} to {pair['to']}", pair["delay"]["values"], pair["bandwidth"]["values"]
            print(f"{way}, {DELAY_S * 1e3:g} ms and {RATE_BPS / 1e6:g} MB/s: {[round(delay * 1e3, 2) for delay in delays]} ms,"
                  f" {[round(rate / 1e6, 2) for rate in rates]} MB/s", flush=True)
            delay_s, rate_Bps = statistics.median(delays), statistics.median(rates)  # one probe may have been held up
            self.assertLess(abs(delay_s - DELAY_S), WITHIN_S, f"{way}: {delay_s * 1e3:.3f} ms")
            self.assertLessEqual(rate_Bps, 2 * RATE_BPS, way)  # the short calls may have been held up, and are subtracted
            self.assertGreaterEqual(rate_Bps, RATE_BPS / 10, f"{way}: less than the slow start of a short transfer explains")
        self.assertEqual(links["source"], "measured")

        # What plans take is taken at the end of a round, of what each way is expected to be next.
        def follows():
            links = self.world.links()
            return abs(links["link"]["delay_s"] - DELAY_S) < WITHIN_S and all(
                abs(links["link"][name] / statistics.mean(pair[kind]["next"] for pair in links["worst"]) - 1) < 1e-9
                for name, kind in (("delay_s", "delay"), ("bandwidth_Bps", "bandwidth")))
        until(follows, "what plans take is not what was measured")
        until(lambda: self.world.planned_with() == self.world.links()["link"], "capacity tells another link")

        self.world.network = f"[network]\nzone_delay_s = {DECLARED_S}\n"
        self.assertEqual(self.world.zone.end(), 0)
        self.world.start_zone()
        links = until(lambda: self.world.measured(1), "it is not measured any more", 60)
        self.assertEqual((links["source"], links["link"]["delay_s"]), ("declared", DECLARED_S))
        self.assertEqual(self.world.planned_with(), links["link"])
        for pair in links["worst"]:  # measurements are reported all the same
            self.assertGreater(pair["delay"]["values"][-1], DELAY_S - WITHIN_S)


if __name__ == "__main__":
    if why := why_not():
        print("skipped: " + why)
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
