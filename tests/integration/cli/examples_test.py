"""Every example of every `--help`, run through a shell in one story: a registry, the zones of two organisations, a node agent, a user, an operator's day.

usage: examples_test.py BIN SOURCE_DIR

Replaced in an example is only what stands for something else: ID, DIR, the words with "...", folders of the system, ports, and what a call names in `here`. An example that has no
place in the story fails the test.
"""
import json
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

PROGRAMS, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
sys.path[:0] = [str(SOURCE / "tests/integration/docs"), str(SOURCE / "tests/support")]

from examples import all_examples  # noqa: E402
from manners import DECIDED, QUEUE_LOG  # noqa: E402
from pages import Command  # noqa: E402
from ports import free_port  # noqa: E402
from postgres_server import PostgresServer, missing  # noqa: E402
from reader import Reader  # noqa: E402

ZONE = """name = "{name}"
organisation = "{organisation}"
contact = "operator@{organisation}.example"
state = "{folder}/state"
listen = "127.0.0.1:{port}"
allow_private_addresses = true
run_as = "self"
shared_memory = true
{more}
[[machine]]
name = "m0"
processors = 4
{machines}
[timing]
discover_s = 0.2
renew_s = 0.5
"""
AGENT = '[[machine]]\nname = "node-1"\nprocessors = 1\nagent = true\n'
NODE = """name = "node-1"
zone = "https://127.0.0.1:{port}"
zone_name = "org-a-one"
state = "{folder}/node"
identity = "{folder}/node-1-identity"
listen = "127.0.0.1:{own}"
run_as = "self"
shared_memory = true
"""


class Story(unittest.TestCase):
    """`try_example` runs an example, `also` what an example needs and no `--help` shows."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="zbs-examples-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.reader = Reader(self.folder, PROGRAMS, SOURCE)
        self.addCleanup(self.reader.close)
        self.tried, self.here = set(), {"DIR": f"{self.folder}/registry", "8000": str(free_port())}
        self.ports = {name: free_port() for name in ("a", "b", "node", "registry")}

    # ---- trying

    def localized(self, example, here):
        for word, meant in ({**self.here, **here}).items():
            example = re.sub(rf"(?<![\w/.]){re.escape(word)}(?![\w])", lambda _, meant=meant: meant, example)
        self.assertNotIn("...", example, "no earlier example has printed what to write here")
        return self.reader.here(example)

    def also(self, command, word="", code=0, again=False):
        """Its output, which has `word` in it."""
        step = Command(0, command if code == 0 else f"{command}; [ $? = {code} ]", ["..."] if not word else ["...", f"...{word}...", "..."], again=again)
        self.reader.run(step)
        return self.reader.said

    def try_example(self, example, word="", code=0, again=False, **here):
        self.tried.add(example)
        return self.also(self.localized(example, {name.replace("_", "-"): meant for name, meant in here.items()}), word, code, again)

    def try_as(self, replaced, example, word="", **options):
        """`replaced`: words of the example that are no names, and what they are here."""
        self.tried.add(example)
        return self.also(self.localized(example, replaced), word, **options)

    def stays(self, command, word="listening on"):
        """A service; what ends it."""
        self.reader.start(Command(0, command, ["...", f"...{word}..."]))
        return self.reader.services[-1]

    def stays_as_written(self, example, word="listening on", **here):
        self.tried.add(example)
        return self.stays(self.localized(example, here), word)

    def enter(self, folder):
        self.also(f"mkdir -p {self.folder}/{folder} && cd {self.folder}/{folder}")

    # ---- the story

    def test_every_example(self):
        with self.subTest("the programs of a shell"):
            self.completions()
        for chapter in (self.registry_begins, self.zone_begins, self.user_begins, self.peering, self.jobs, self.profiles, self.offline, self.queue_and_quickstart,
                        self.operators_day, self.peering_ends, self.backups, self.registry_ends, self.zones_of_the_system):
            chapter()
        pages = self.folder / "pages"
        found = all_examples(PROGRAMS, pages)
        self.assertGreater(len(found), 80)
        self.assertEqual(found - self.tried, set(), "examples that nobody runs: give them a place in the story")
        self.assertEqual(self.tried - found, set(), "no --help shows these any more")

    def completions(self):
        self.also("mkdir -p ~/.local/share/bash-completion/completions")
        for program in ("zbs", "zbs-zone", "zbs-registry", "zbs-node"):
            self.try_example(f"{program} completion bash > ~/.local/share/bash-completion/completions/{program}")
            self.also(f"grep -c {program} ~/.local/share/bash-completion/completions/{program}")

    def registry_begins(self):
        self.try_example("zbs-registry init --state DIR --organisation grid", "spiffe://grid/registry")
        self.try_example("zbs-registry operator --state DIR")
        self.registry = self.serve_registry()
        self.try_example("zbs-registry ready --state DIR")
        self.here["zbs-enrol-1+..."] = re.search(r"zbs-enrol-1\+\S+", self.try_example("zbs-registry token --state DIR --for org-a", "zbs-enrol-1+")).group()

    def serve_registry(self):
        return self.stays(f"exec zbs-registry run --state {self.folder}/registry --listen-port {self.ports['registry']} --allow-private-addresses")

    def zone_file(self, letter, more="", machines=""):
        folder = self.folder / f"org-{letter}"
        folder.mkdir(exist_ok=True)
        (folder / "zone.toml").write_text(ZONE.format(name=f"org-{letter}-one", organisation=f"org-{letter}", folder=folder, port=self.ports[letter], more=more, machines=machines))

    def zone_begins(self):
        self.zone_file("a", f'queue = "easy"\nqueue_log = "{self.folder}/org-a/queue.jsonl"\npart_log = "{self.folder}/org-a/parts.jsonl"', AGENT)
        self.zone_file("b")
        self.enter("org-b")
        self.fingerprint_b = re.search(r"sha256:[0-9a-f]{64}", self.also("zbs-zone init --config zone.toml")).group()
        token = re.search(r"zbs-enrol-1\+\S+", self.also(f"zbs-registry token --state {self.folder}/registry --for org-b")).group()
        self.also(f"zbs-zone enrol {token} --config zone.toml")
        self.zone_b = self.stays("exec zbs-zone run --config zone.toml")
        self.enter("org-a")
        self.try_example("zbs-zone init --config zone.toml", "sha256:")
        self.try_example("zbs-zone operator --config zone.toml")
        self.try_example("zbs-zone node add node-1 --out node-1-identity --config zone.toml")
        self.try_example("zbs-zone enrol zbs-enrol-1+... --config zone.toml")
        self.try_example("zbs-zone doctor --config zone.toml", "certificate")
        self.try_example("zbs-zone config check --config zone.toml", "good: ")
        self.try_example("zbs-zone config show --origin --config zone.toml", "zone.toml:1")
        self.try_example("zbs-zone config show --filter origin!=default --config zone.toml", "organisation")
        armed = self.stays_as_written("ZBS_FAILPOINTS='home.after_held=crash' zbs-zone run --config zone.toml")
        self.end(armed)
        self.zone_a = self.stays("exec zbs-zone run --config zone.toml")
        self.try_example("zbs-zone ready --config zone.toml")
        (self.folder / "org-a/node.toml").write_text(NODE.format(port=self.ports["a"], own=self.ports["node"], folder=self.folder / "org-a"))
        self.stays_as_written("zbs-node run --config node.toml")
        self.try_example("zbs-node ready --config node.toml")
        self.try_example("zbs-node config check --config node.toml", "good: ")
        self.try_example("zbs-node config show --origin --config node.toml", "node.toml:1")
        self.try_example("zbs-node config show --filter origin!=default --config node.toml", "zone_name")
        self.try_example("zbs-node describe", "processors")
        self.try_example("zbs-node describe -o table", "processors  ")

    def end(self, service):
        self.reader.end(service)

    def user_begins(self):
        code = re.search(r"zbs-login-1\+ana\+\S+", self.try_example("zbs-zone user add ana --group physics --config zone.toml", "zbs login --code")).group()
        self.enter("ana")
        self.try_as({"zbs-login-1+ana+...": code}, "zbs login --code zbs-login-1+ana+...")
        self.try_example("zbs whoami", "spiffe://org-a/user/ana")
        self.try_example("zbs delegate --for 3d")
        self.try_example("zbs doctor", "home zone")
        self.enter("org-a")
        self.try_example("zbs-zone user list --config zone.toml", "ana")

    def peering(self):
        self.enter("org-b")
        fingerprint_a = re.search(r"sha256:[0-9a-f]{64}", self.also(f"zbs-registry organisation list --state {self.folder}/registry | grep org-a")).group()
        self.also(f"zbs-zone peer request org-a --fingerprint {fingerprint_a} --config zone.toml", again=True)
        self.enter("org-a")
        self.here["sha256:..."] = self.fingerprint_b
        self.try_example("zbs-zone peer request org-b --fingerprint sha256:... --config zone.toml", again=True)
        self.enter("org-b")
        self.also(f"zbs-zone peer accept org-a --fingerprint {fingerprint_a} --account account:guest --no-delegation --floor-processors 4 --floor-parts 4 --floor-walltime 24h --config zone.toml", again=True)
        self.enter("org-a")
        self.try_example("zbs-zone peer list --config zone.toml", "org-b", again=True)
        self.try_example("zbs-zone peer accept org-b --fingerprint sha256:... --processors 16 --hours 18:00-08:00 --config zone.toml", again=True)
        self.try_example("zbs-zone peer show org-b --config zone.toml", "trust")
        self.try_example("zbs-zone peer set org-b --processors 8 --config zone.toml", "8")
        self.try_example("zbs-zone peer suspend org-b --reason maintenance --config zone.toml", "suspended")
        self.try_example("zbs-zone peer resume org-b --config zone.toml", "accepted")
        self.also("cp -r state/identity/operator ../operator")  # an operator at another machine: docs/operator.md
        self.also(f"echo https://127.0.0.1:{self.ports['a']} spiffe://org-a/zone/org-a-one > ../operator/home; export ZBS_CREDENTIALS=$PWD/../operator")
        self.try_example("zbs peer set org-b --processors 8")
        self.try_example("zbs peer suspend org-b")
        self.try_example("zbs peer resume org-b")
        self.try_example("zbs peer reject org-b")
        self.try_example("zbs peer accept org-b")
        self.also("unset ZBS_CREDENTIALS")
        self.enter("ana")
        self.try_example("zbs peer list", "org-b")
        self.try_example("zbs peer show org-b", "org-b")

    def jobs(self):
        for name in ("solver", "my_program"):
            shutil.copy(PROGRAMS / "apps/messages", self.folder / "ana" / name)
        (self.folder / "ana/input.dat").write_text("")
        self.try_example("zbs zone list", "org-b-one")
        self.try_example("zbs zone list --where 'usable = yes and mpi >= 4'", "org-b-one", again=True)
        self.try_example("zbs zone show", "m0")
        self.try_example("zbs zone links")
        self.try_example("zbs zone machine-links")
        self.try_example("zbs run -n 6 -- ./solver input.dat", "org-b-one", again=True)
        self.try_example("zbs run -n 6 -- ./my_program input.dat", "plan:")
        self.here["ID"] = self.try_example("zbs submit -n 6 -- ./solver input.dat").split()[-1]
        self.try_example("zbs wait ID --timeout 10m")
        self.try_example("zbs logs ID --rank 0 -f")
        self.try_example("zbs show ID --format rsl", "resourceManagerContact")
        self.try_example("zbs explain ID", "commit")
        self.try_example("zbs top --every 5", "org-a-one")
        self.try_example("zbs top --filter state=running --sort -ranks", "org-a-one")
        self.also("mkdir bin && printf '#!/bin/sh\\ncp \"$1\" opened.html\\n' > bin/xdg-open && chmod +x bin/xdg-open && export PATH=$PWD/bin:$PATH")
        service = self.stays_as_written("zbs dashboard --open", "http://127.0.0.1:")
        self.also("grep -c 'token=' opened.html", again=True)
        self.end(service)
        running = self.also("zbs submit -n 1 -- sleep 600").split()[-1]
        self.try_example("zbs list --filter state=running --sort -ranks", running, again=True)
        self.try_example("zbs list --state running,launching", running, again=True)
        self.try_as({"ID": running}, "zbs cancel ID")
        self.also("zbs submit -n 1 --job-name lu-1 -- sleep 600")
        self.try_example("zbs cancel 'name=lu-*' --yes")
        self.also("zbs submit -n 1 --stage-out 'result*' -- sh -c 'echo 42 > result'")
        staged = self.also("zbs list --limit 1 -o name").split()[-1]
        self.also(f"zbs wait {staged}")
        self.also("mkdir results")
        self.try_as({"ID": staged}, "zbs fetch ID -d results")
        self.also("cat results/result", "42")

    def profiles(self):
        self.try_example("zbs profile list -o json", '"ranks":6')
        profile = self.also("zbs profile list -o name | head -1").split()[0]
        self.try_as({"ID": profile}, "zbs profile export ID -o model.json")
        self.try_example("zbs profile import model.json -- ./solver input.dat")
        self.try_example("zbs profile show model.json", "6")
        self.try_example("zbs profile plot model.json -o matrix.svg")
        self.also("zbs replay --generate random --ranks 6 --clusters 2 --lines 100 --resources \"$ZBS/tests/apps/three_zones.json\" --save-trace run.log && gzip run.log")
        self.try_as({"model.json": "other.json"}, "zbs profile run.log.gz -o model.json")

    def offline(self):
        shutil.copy(SOURCE / "tests/apps/three_zones.json", self.folder / "ana/zones.json")
        self.try_example("zbs map --model model.json --resources zones.json --format rsl -- ./solver input.dat", "resourceManagerContact")
        (self.folder / "ana/mesh.graph").write_text("192 192\n" + "".join(f"{(i - 1) % 192 + 1} {(i + 1) % 192 + 1}\n" for i in range(192)))
        self.try_example("zbs map --graph mesh.graph --hierarchy 4:8:6 --distances 1:10:100 --format json --output mapping.json")
        self.also("zbs map --model model.json --resources zones.json --format json > mapping.json")
        self.also("zbs run -q -n 6 --trace run.trace -- ./solver input.dat && ls run.trace.5")
        self.try_example("zbs replay --trace run.trace.* --resources zones.json --mapping mapping.json --gantt run.svg")
        self.also("grep -c '<svg' run.svg matrix.svg")
        self.also("zbs simulate --generate lublin:jobs=200,processors=64 --export-swf log.swf && gzip log.swf")
        self.try_example("zbs simulate --trace log.swf.gz --policy easy", "200")
        self.try_example("zbs simulate --generate lublin:jobs=5000,processors=128 --compare fcfs,easy,conservative", "conservative")
        for recorded, name in (("sacct.txt", "year.txt"), ("slurm.conf", "slurm.conf")):
            shutil.copy(SOURCE / "tests/unit/formats/recorded" / recorded, self.folder / "ana" / name)
        self.try_example("zbs simulate --from-sacct year.txt --slurm-conf slurm.conf --compare easy,conservative", "conservative")

    def queue_and_quickstart(self):
        self.enter("org-a")
        (self.folder / "org-a/queue.jsonl").write_text("".join(json.dumps(event) + "\n" for event in [*QUEUE_LOG, DECIDED]))  # nobody has waited so far
        self.try_example("zbs queue replay queue.jsonl", "decides as the zone did")
        self.try_example("zbs queue replay queue.jsonl -o json", '"same"')
        self.try_example("zbs-zone replay parts.jsonl", "all states equal")
        shutil.copy(SOURCE / "docs/examples/match/easy.toml", self.folder / "org-a/workload.toml")
        self.try_example("zbs-zone match workload.toml", "guest-again")
        self.enter("empty")
        self.also("export TMPDIR=$PWD")  # where its folder is; somebody may have one in /tmp
        service = self.stays_as_written("zbs quickstart", "Stop with Ctrl-C")
        self.end(service)

    def operators_day(self):
        self.enter("org-a")
        self.try_example("zbs-zone drain --config zone.toml")
        self.try_example("zbs-zone undrain --config zone.toml")
        self.try_example("zbs-zone block spiffe://org-b/user/eve --reason 'lost key' --config zone.toml")
        self.try_example("zbs-zone blocks --config zone.toml", "spiffe://org-b/user/eve")
        self.also("zbs-zone block org-b --config zone.toml")
        self.try_example("zbs-zone unblock org-b --config zone.toml")
        self.try_example("zbs-zone audit verify --config zone.toml")
        last = len(self.also("zbs-zone audit list --limit 1000 --config zone.toml").splitlines()) - 1  # without the header
        self.try_as({"1200": str(last - 3)}, "zbs-zone audit list --after 1200 --json --config zone.toml", "unblock")
        self.try_example("zbs-zone user revoke ana --config zone.toml")
        self.also("cd ../ana; zbs whoami", code=4)

    def peering_ends(self):
        self.enter("org-a")
        self.try_example("zbs-zone peer reject org-b --reason 'no contract' --config zone.toml", "rejected")
        self.try_example("zbs-zone peer remove org-b --config zone.toml", "forgot org-b")

    def certificate(self, identity):
        """new.pem: what the organisation's CA could have made elsewhere for the same key and names."""
        self.also(f"openssl x509 -x509toreq -in {identity}/certificate.pem -signkey {identity}/key.pem -copy_extensions copyall -out new.csr")
        self.also(f"openssl x509 -req -in new.csr -CA {identity}/ca.pem -CAkey {identity}/ca_key.pem -days 20 -copy_extensions copyall -out new.pem")

    def backups(self):
        self.certificate("state/identity")
        self.try_example("zbs-zone renew --certificate new.pem --config zone.toml")
        self.also("mkdir -p ../backup ../etc/zbs ../var/lib")

    def registry_ends(self):
        self.certificate("../registry/identity")
        self.try_example("zbs-registry renew --certificate new.pem --state DIR")
        self.try_example("zbs-registry list --state DIR", "org-a-one")
        self.try_example("zbs-registry zone list --state DIR", "org-a-one")
        self.try_example("zbs-registry organisation list --state DIR", "org-a")
        self.try_example("zbs-registry zone remove org-a-one --state DIR")
        self.try_example("zbs-registry organisation remove org-a --state DIR")
        self.try_example("zbs-registry audit verify --state DIR")
        self.try_as({"1200": "1"}, "zbs-registry audit list --after 1200 --json --state DIR", "createEnrolmentToken")

    def into_postgresql(self, example):
        if missing():
            print(missing())
            return self.tried.add(example)
        with PostgresServer() as server:
            with open(self.folder / "etc/zbs/zone.toml", "a") as file:
                file.write(f'\n[database]\nurl = "{server.url}"\n')
            self.try_example(example, "the database is in PostgreSQL")

    def zones_of_the_system(self):
        zone = (self.folder / "org-b/zone.toml").read_text().replace(f"{self.folder}/org-b/state", f"{self.folder}/var/lib/zbs").replace("org-b-one", "org-b-two")
        (self.folder / "etc/zbs/zone.toml").write_text(zone.replace(str(self.ports["b"]), str(free_port())))
        service = self.stays_as_written("zbs-zone init --config /etc/zbs/zone.toml && zbs-zone run --config /etc/zbs/zone.toml")
        self.try_example("zbs-zone backup /backup/zone-2026-01-31.db --config /etc/zbs/zone.toml")
        self.end(service)
        self.try_example("zbs-zone restore /backup/zone-2026-01-31.db --config /etc/zbs/zone.toml")
        self.into_postgresql("zbs-zone database move --config /etc/zbs/zone.toml")
        service = self.stays_as_written("zbs-registry init --state /var/lib/zbs-registry --organisation grid && zbs-registry run --state /var/lib/zbs-registry --listen-port 8000")
        self.try_example("zbs-registry backup /backup/registry-2026-01-31.db --state /var/lib/zbs-registry")
        self.end(service)
        self.try_example("zbs-registry restore /backup/registry-2026-01-31.db --state /var/lib/zbs-registry")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
