"""What `zbs map` writes, as the programs understand it that it is written for.

usage: formats_test.py ZBS SOURCE_DIR RSL_ORACLE_OR_EMPTY [TestClass...]

A reader that is not installed is a skipped test that says so. Hosts are made up: launchers start their remote half through
rsh_agent, which runs it here and tells it which host it stands for.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

ZBS, SOURCE, RSL_ORACLE = sys.argv[1:4]
sys.path.insert(0, SOURCE + "/tests/support")
import slurm_cluster
from plain_path import plain

HERE = os.path.dirname(os.path.abspath(__file__))
AGENT = plain(HERE + "/rsh_agent")
AWKWARD = [" lead", "trail ", "&<>\"'", "a\nb", "\t", "", "#$^ %s", "\u00e9\u20ac\U0001f600", "-n", "x=y"]
ZONES = {"alpha": {"n1": 4, "n2": 4}, "beta": {"n3": 4, "n4": 2}}


class Formats(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return f"{self.folder}/{name}"

    def write(self, name, text):
        with open(self.path(name), "w") as f:
            f.write(text)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), newline="") as f:
            return f.read()

    def map(self, places, form, *options, program=("/opt/app/heat", "-n", "512"), zones=ZONES, path=os.environ["PATH"]):
        """`zbs map --format form` for ranks on these (host, processor); the completed process."""
        index, number = {}, 0
        for zone in zones.values():
            for host, processors in zone.items():
                for processor in range(processors):
                    index[host, processor] = number
                    number += 1
        model = {"format": "zbs-model/1", "program": "heat", "ranks": len(places), "compute": [1] * len(places), "edges": []}
        resources = {"format": "zbs-resources/1", "links": [], "zones": [
            {"name": name, "machines": [{"name": host, "processors": n, "speed": 1} for host, n in hosts.items()]} for name, hosts in zones.items()]}
        return subprocess.run(
            [ZBS, "map", "--model", self.write("model.json", json.dumps(model)), "--resources", self.write("zones.json", json.dumps(resources)),
             "--evaluate", self.write("mapping.txt", "".join(f"{index[place]}\n" for place in places)), "--format", form, *options, "--", *program],
            capture_output=True, text=True, timeout=60, env=dict(os.environ, PATH=path))

    def text(self, *arguments, **options):
        done = self.map(*arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


def rows(text):
    """'RANK WORDS...' lines by rank."""
    return [line.split(None, 1)[1] for line in sorted(text.splitlines(), key=lambda line: int(line.split()[0]))]


class HostsThatComeBack(Formats):
    def test_the_limit_of_slurm_is_printed_where_slurm_is(self):
        places = [("n1", 0), ("n2", 0), ("n1", 1), ("n2", 1)]
        self.assertEqual(self.map(places, "hostfile", "--zone", "alpha", path=self.folder).stderr.count("Slurm"), 0)
        os.chmod(self.write("srun", "#!/bin/sh\n"), 0o700)
        self.assertIn("not inside a Slurm allocation", self.map(places, "hostfile", "--zone", "alpha", path=self.folder).stderr)


@unittest.skipIf(shutil.which("mpiexec.mpich") is None, "mpiexec.mpich not found (package mpich)")
class Mpich(Formats):
    def launch(self, name, ranks):
        done = subprocess.run(["mpiexec.mpich", "-launcher", "rsh", "-launcher-exec", AGENT, "-f", self.path(name), "-n", str(ranks),
                               "sh", "-c", "echo $PMI_RANK $FAKE_HOST"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return rows(done.stdout)

    def test_ranks_run_where_the_file_says(self):
        places = [("n1", 0), ("n1", 1), ("n3", 0), ("n2", 0), ("n4", 1)]
        self.write("hosts", self.text(places, "hostfile"))
        self.assertEqual(self.launch("hosts", 5), ["alpha.n1", "alpha.n1", "beta.n3", "alpha.n2", "beta.n4"])

    def test_interleaved_hosts_keep_their_order_with_a_warning(self):
        done = self.map([("n1", 0), ("n2", 0), ("n1", 1), ("n2", 1)], "hostfile", "--zone", "alpha")
        self.assertEqual("not inside a Slurm allocation" in done.stderr, shutil.which("srun") is not None, done.stderr)
        self.write("hosts", done.stdout)
        self.assertEqual(self.launch("hosts", 4), ["n1", "n2", "n1", "n2"])


@unittest.skipIf(shutil.which("mpirun.openmpi") is None, "mpirun.openmpi not found (package openmpi-bin)")
class OpenMpi(Formats):
    def launch(self, ranks, *options, command="echo $OMPI_COMM_WORLD_RANK $FAKE_HOST"):
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", TMPDIR=self.folder)
        return subprocess.run(["mpirun.openmpi", "--mca", "plm_rsh_agent", AGENT, "--mca", "plm_rsh_no_tree_spawn", "1", "--mca",
                               "oob_tcp_if_include", "lo", *options, "-n", str(ranks), "sh", "-c", command],
                              capture_output=True, text=True, timeout=60, env=environment)

    def test_host_file_with_uneven_hosts(self):
        self.write("hosts", self.text([("n1", 0), ("n1", 1), ("n2", 0)], "openmpi_hostfile"))
        done = self.launch(3, "--hostfile", self.path("hosts"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(rows(done.stdout), ["n1", "n1", "n2"])
        self.assertNotEqual(self.launch(4, "--hostfile", self.path("hosts")).returncode, 0, "slots are not the ranks per host")

    def test_names_with_a_domain_need_the_option_that_the_warning_names(self):
        zones, places = {"alpha": {"worker.1.site": 2, "worker.2.site": 2}}, [("worker.1.site", 0), ("worker.1.site", 1), ("worker.2.site", 0)]
        for form, options in (("openmpi_hostfile", ("--hostfile", self.path("hosts"))), ("rankfile", ("--hostfile", self.path("hosts.hosts"), "-rf", self.path("hosts")))):
            with self.subTest(form):
                made = self.map(places, form, "--output", self.path("hosts"), zones=zones)
                self.assertEqual(made.returncode, 0, made.stderr)
                self.assertIn("cuts the host name worker.1.site at its first dot; start mpirun with --mca orte_keep_fqdn_hostnames 1", made.stderr)
                self.assertNotEqual(self.launch(3, *options).returncode, 0, "Open MPI takes dotted names now; the warning can go")
                done = self.launch(3, "--mca", "orte_keep_fqdn_hostnames", "1", *options)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(rows(done.stdout), ["worker.1.site", "worker.1.site", "worker.2.site"])
        for host in ("n1", "10.0.0.1"):
            self.assertEqual(self.map([(host, 0)], "rankfile", zones={"alpha": {host: 2}}).stderr, "")

    def test_host_file_refuses_an_order_it_cannot_say(self):
        done = self.map([("n1", 0), ("n2", 0), ("n1", 1)], "openmpi_hostfile", "--output", self.path("hosts"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("use a rankfile", done.stderr)
        self.assertFalse(os.path.exists(self.path("hosts")))

    @unittest.skipIf((os.cpu_count() or 1) < 2, "needs two cores to bind to")
    def test_rankfile_places_interleaved_ranks_and_binds_them(self):
        done = self.map([("n1", 0), ("n2", 1), ("n1", 1)], "rankfile", "--output", self.path("ranks"))
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.launch(3, "--hostfile", self.path("ranks.hosts"), "-rf", self.path("ranks"),
                           command="echo $OMPI_COMM_WORLD_RANK $FAKE_HOST $(taskset -pc $$ | sed 's/.*: //')")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = [row.split() for row in rows(done.stdout)]
        self.assertEqual([host for host, _ in found], ["n1", "n2", "n1"])
        self.assertEqual(found[1][1], found[2][1], "slot 1 on both hosts is one core here")
        self.assertNotEqual(found[0][1], found[2][1], "two slots of a host are two cores")

    @unittest.skipIf((os.cpu_count() or 1) < 2, "needs two cores to bind to")
    def test_rankfiles_of_two_zones_count_from_zero_each(self):
        done = self.map([("n1", 0), ("n3", 0), ("n2", 0), ("n3", 1)], "rankfile", "--output", self.path("ranks-{zone}"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for zone, hosts in (("alpha", ["n1", "n2"]), ("beta", ["n3", "n3"])):
            done = self.launch(2, "--hostfile", self.path(f"ranks-{zone}.hosts"), "-rf", self.path(f"ranks-{zone}"))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(rows(done.stdout), hosts)


class Slurm(Formats):
    @classmethod
    def setUpClass(cls):
        why = slurm_cluster.missing()
        if why:
            raise unittest.SkipTest("no local Slurm: " + why)
        cls.cluster = slurm_cluster.SlurmCluster(["n1", "n2", "n3"], 4)

    @classmethod
    def tearDownClass(cls):
        cls.cluster.stop()

    def test_ranks_run_where_the_list_says(self):
        zones = {"alpha": {"n1": 4, "n2": 4, "n3": 4}}
        hosts = ["n2", "n1", "n2", "n3", "n3", "n1", "n1"]
        places = [(host, hosts[:i].count(host)) for i, host in enumerate(hosts)]
        done = self.map(places, "slurm", "--output", self.path("hosts"), zones=zones)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.cluster.run(self.path("hosts"), len(hosts), 3, "sh", "-c", "echo $SLURM_PROCID $SLURMD_NODENAME")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(rows(done.stdout), hosts)

    def test_slurm_says_no_where_the_list_is_too_short(self):
        self.write("hosts", "n1\n")
        self.assertNotEqual(self.cluster.run(self.path("hosts"), 2, 3, "true").returncode, 0)


class Jsdl(Formats):
    JSDL = "{http://schemas.ggf.org/jsdl/2005/11/jsdl}"
    POSIX = "{http://schemas.ggf.org/jsdl/2005/11/jsdl-posix}"
    SPMD = "{http://schemas.ogf.org/jsdl/2007/02/jsdl-spmd}"

    def xmllint(self, name):
        if shutil.which("xmllint") is None:
            self.skipTest("xmllint not found (package libxml2-utils)")
        return subprocess.run(["xmllint", "--noout", "--nonet", "--schema", HERE + "/jsdl.xsd", self.path(name)], capture_output=True, text=True, timeout=60)

    def test_documents_of_two_zones_are_valid_and_complete(self):
        done = self.map([("n1", 0), ("n3", 0), ("n1", 1), ("n2", 0), ("n4", 0)], "jsdl", "--output", self.path("{zone}.xml"), "-D", "/home/ana/run 1", "-t",
                        "90s", "--env", "A=x \"y\"\n<z>", "--env", "B=", program=("/opt/app/heat", *AWKWARD))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("zbs.ranks", done.stderr)
        for zone, ranks, hosts, per_host in (("alpha", "0,2-3", ["n1", "n2"], None), ("beta", "1,4", ["n3", "n4"], "1")):
            checked = self.xmllint(zone + ".xml")
            self.assertEqual(checked.returncode, 0, checked.stderr)
            root = ElementTree.parse(self.path(zone + ".xml")).getroot()
            texts = lambda name: [element.text or "" for element in root.iter(name)]
            self.assertEqual(texts(self.POSIX + "Argument"), AWKWARD)
            self.assertEqual(texts(self.POSIX + "WorkingDirectory"), ["/home/ana/run 1"])
            self.assertEqual({e.get("name"): e.text or "" for e in root.iter(self.POSIX + "Environment")}, {"A": "x \"y\"\n<z>", "B": ""})
            self.assertEqual(texts(self.JSDL + "HostName"), hosts)
            self.assertEqual(texts(self.SPMD + "ProcessesPerHost"), [per_host] if per_host else [])
            self.assertEqual(texts(self.JSDL + "JobName"), ["heat"])
            self.assertIn("zbs.ranks=" + ranks, texts(self.JSDL + "JobAnnotation"))
            self.assertIn("zbs.walltime_s=90", texts(self.JSDL + "JobAnnotation"))

    def test_the_schema_can_say_no(self):
        self.map([("n1", 0)], "jsdl", "--output", self.path("good.xml"))
        good = self.read("good.xml")
        self.assertEqual(self.xmllint("good.xml").returncode, 0)
        for old, new in (("jsdl:HostName", "jsdl:CandidateHost"), ("www.ogf.org", "schemas.ogf.org"), ("ProcessesPerHost", "ThreadsPerHost")):
            self.assertIn(old, good)
            self.write("bad.xml", good.replace(old, new))
            self.assertNotEqual(self.xmllint("bad.xml").returncode, 0, new)

    def test_control_characters_are_refused_and_nothing_is_written(self):
        for bad in ("\x01", "\r"):
            done = self.map([("n1", 0)], "jsdl", "--output", self.path("x.xml"), program=("/opt/app/heat", bad))
            self.assertEqual(done.returncode, 2)
            self.assertIn("XML cannot carry", done.stderr)
            self.assertFalse(os.path.exists(self.path("x.xml")))


@unittest.skipIf(not RSL_ORACLE, "no RSL oracle in this build (package libglobus-rsl-dev)")
class Rsl(Formats):
    def understood(self, text):
        done = subprocess.run([RSL_ORACLE], input=text, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, text[:2000])
        return done.stdout

    def test_interleaved_sites_carry_their_ranks(self):
        text = self.text([("n1", 0), ("n3", 0), ("n1", 1), ("n2", 0)], "rsl", "--contact", "beta=zone-b.example.org:2119/jobmanager-pbs", "-t", "61s",
                         program=("/opt/app/heat", *AWKWARD))
        read = self.understood(text)
        for part in ('"resourcemanagercontact" = "zone-b.example.org:2119/jobmanager-pbs"', '"resourcemanagercontact" = "alpha"', '"ZBS_RANKS" "0,2-3"',
                     '"ZBS_RANKS" "1"', '"GLOBUS_DUROC_SUBJOB_INDEX" "1"', '"maxwalltime" = "2"', '"a\nb"', '" lead" "trail " "&<>""\'"'):
            self.assertIn(part, read)

    def test_ten_thousand_ranks_on_a_thousand_sites(self):
        zones = {f"z{i}": {f"h{i}": 10} for i in range(1000)}
        text = self.text([(f"h{i % 1000}", i // 1000) for i in range(10000)], "rsl", zones=zones)
        self.assertGreater(len(text), 16384)
        self.assertEqual(self.understood(text).count('"count" = "10"'), 1000)


class Psij(Formats):
    KEYS = {"name", "executable", "arguments", "directory", "inherit_environment", "environment", "stdin_path", "stdout_path", "stderr_path",
            "resources", "attributes", "pre_launch", "post_launch", "launcher"}

    def specs(self):
        return json.loads(self.text([("n1", 0), ("n3", 0), ("n1", 1), ("n2", 0), ("n4", 0)], "psij", "-t", "42m", "-D", "/home/ana", "--env", "A=1",
                                    program=("/opt/app/heat", *AWKWARD)))

    def test_specs_are_what_the_format_allows(self):
        specs = self.specs()
        self.assertEqual([spec["attributes"]["custom_attributes"]["zbs.ranks"] for spec in specs], ["0,2-3", "1,4"])
        for spec in specs:
            self.assertLessEqual(set(spec), self.KEYS)
            self.assertEqual(spec["arguments"], AWKWARD)
            self.assertEqual(spec["attributes"]["duration"], "2520 s")
        self.assertEqual(specs[0]["resources"], {"__version": 1, "process_count": 3})
        self.assertEqual(specs[1]["resources"], {"__version": 1, "process_count": 2, "node_count": 2, "processes_per_node": 1})


    def test_one_zone_is_one_specification_as_the_reader_of_psij_takes_it(self):
        both = [("n1", 0), ("n3", 0)]
        for places, options in (([("n1", 0), ("n2", 0)], ()), (both, ("--zone", "alpha"))):
            spec = json.loads(self.text(places, "psij", *options))
            self.assertIsInstance(spec, dict)
            self.assertLessEqual(set(spec), self.KEYS)
            self.assertEqual(spec["attributes"]["custom_attributes"]["zbs.zone"], "alpha")
        self.assertEqual(self.map(both, "psij", "--output", self.path("{zone}.json")).returncode, 0)
        self.assertEqual([json.loads(self.read(zone + ".json"))["attributes"]["custom_attributes"]["zbs.zone_count"] for zone in ZONES], ["2", "2"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
