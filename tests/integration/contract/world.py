"""A registry and a zone that is enrolled there, with the identities that the programs make, for tests over TLS."""
import re
import select
import subprocess

from identities import Organisations, own, run

DEADLINE_S = 20


class World:
    """A registry of organisation grid, and zone alpha-one of organisation alpha, which is enrolled there. Ended by `stop`."""

    def __init__(self, folder, registry, zone, processors=2, accounts="", settings=""):
        self.folder, self.registry, self.zone = folder, registry, zone
        self.processors, self.accounts, self.settings = processors, f'account_map = "{accounts}"' if accounts else "", settings
        self.services, self.ports = [], {}

    def begin(self):
        folder = self.folder
        run(self.registry, "init", "--state", folder / "registry", "--organisation", "grid")
        self.start("registry", self.registry, "run", "--state", folder / "registry", "--allow-private-addresses")
        (folder / "zone.toml").write_text(f"""
name = "alpha-one"
organisation = "alpha"
contact = "operators@alpha.example"
state = "{folder}/zone"
listen = "127.0.0.1:0"
allow_private_addresses = true
run_as = "self"
{self.accounts}
[[machine]]
name = "node-1"
processors = {self.processors}
[rates]  # this test calls faster than any person
user_per_s = 0
anonymous_per_s = 0
connection_per_s = 0
{self.settings}""")
        run(self.zone, "init", "--config", folder / "zone.toml")
        made = run(self.registry, "token", "--state", folder / "registry", "--for", "alpha")
        token = re.search(r"zbs-enrol-1\+\S+", made).group()
        run(self.zone, "enrol", token, "--config", folder / "zone.toml")
        self.start("zone", self.zone, "run", "--config", folder / "zone.toml")
        self.cas = {"grid": folder / "registry/identity", "alpha": folder / "zone/identity"}

    def start(self, name, *command):
        log = open(self.folder / (name + ".log"), "wb")
        process = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, stderr=log)
        self.services.append((name, process, log))
        ready, _, _ = select.select([process.stdout], [], [], DEADLINE_S)
        line = process.stdout.readline() if ready else b""
        found = re.search(rb"listening on https://[0-9.]+:(\d+)$", line.strip())
        assert found, f"{name} did not start: {line} {(self.folder / (name + '.log')).read_text()[-2000:]}"
        self.ports[name] = int(found.group(1))

    def stop(self):
        faults = []
        for name, process, log in reversed(self.services):
            process.terminate()
            try:
                code = process.wait(DEADLINE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                code = process.wait()
            process.stdout.close()
            log.close()
            if code != 0:
                faults.append(f"{name} ended with {code}: {(self.folder / (name + '.log')).read_text()[-3000:]}")
        assert not faults, faults

    def issue(self, *who):
        return Organisations(self.folder, self.cas).issue(*who)

    def proxy(self, kind, issuer):
        return Organisations(self.folder, self.cas).proxy(kind, issuer)

    def callers(self, service):
        """By the table's columns. accepted_zone of the zone waits for peerings."""
        home, other = ("alpha", "grid") if service == "zone" else ("grid", "alpha")
        user, person = self.issue(home, "user", "ana"), own(self.cas[home] / "operator")
        callers = {"anonymous": None, "own_user": user, "full_proxy": self.proxy("full", user), "limited_proxy": self.proxy("limited", user),
                   "foreign_user": self.issue(other, "user", "eve"), "own_operator": person, "operator_proxy": self.proxy("full", self.issue(home, "operator", "root")),
                   "foreign_operator": own(self.cas[other] / "operator"), "stranger_zone": self.issue(other, "zone", "stranger"), "registry": own(self.cas["grid"]),
                   "own_node": self.issue(home, "node", "n1"), "foreign_node": self.issue(other, "node", "n1")}
        zone = own(self.cas["alpha"])
        if service == "zone":
            callers |= {"own_zone": zone, "zone_proxy": self.proxy("full", self.issue("alpha", "zone", "alpha-two"))}
        else:
            callers |= {"accepted_zone": zone, "own_zone": self.issue("grid", "zone", "grid-one"), "zone_proxy": self.proxy("full", self.issue("grid", "zone", "grid-two"))}
        return callers
