"""The federation of `zbs quickstart` with what tests of trust need: certificates of anybody, connections that stay open, services that
are set up otherwise and started anew."""
import http.client
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "contract"), str(HERE.parent / "federation")]

import federation  # noqa: E402
from federation import Federation, read, until  # noqa: E402
from identities import Identity, Organisations, context, own  # noqa: E402
from service import bundle, checked, fresh_id  # noqa: E402, F401

DEADLINE_S = 60  # for what takes seconds on an idle machine
ZONES = "abc"


class Client:
    """One connection of one caller; it stays open until `close`."""

    def __init__(self, port, identity, host="127.0.0.1", kind="zone"):
        self.kind = kind
        self.connection = http.client.HTTPSConnection(host, port, timeout=DEADLINE_S, context=context(identity))

    def ask(self, method="GET", target="/v1/whoami", body=None):
        """Status and body, as bytes; what is no bytes is sent as JSON."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        self.connection.request(method, target, data, {"Content-Type": "application/json"} if data else {})
        answer = self.connection.getresponse()
        return answer.status, checked(self.kind, method, target, answer.status, answer.headers, answer.read())

    def serial(self):
        """Of the certificate that the service shows."""
        if self.connection.sock is None:
            self.connection.connect()
        return self.connection.sock.getpeercert(binary_form=True)

    def close(self):
        self.connection.close()


class Live(Federation):
    def __enter__(self):
        super().__enter__()
        self.state = pathlib.Path(self.folder) / "state"
        issued = pathlib.Path(self.folder) / "issued"
        issued.mkdir()
        cas = {f"org-{zone}": self.state / zone / "identity" for zone in ZONES}
        self.organisations = Organisations(issued, cas | {"grid": self.state / "registry/identity"})
        return self

    def port(self, zone):
        return int(self.zone_url(zone).rsplit(":", 1)[1])

    def open(self, zone, identity=None):
        return Client(self.port(zone), identity)

    def ask(self, zone, identity, *request):
        """One request on a connection of its own."""
        client = self.open(zone, identity)
        try:
            return client.ask(*request)
        finally:
            client.close()

    def open_registry(self, identity):
        return Client(int((self.state / "registry/address").read_text().rsplit(":", 1)[1]), identity, kind="registry")

    def user(self, zone, name):
        """A user of the zone's organisation, with the certificate that `zbs login` fetched."""
        return own(pathlib.Path(self.log_in(zone, name)))

    def copy_of(self, identity):
        """The same key and certificate in files that nobody replaces."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        return Identity(*(shutil.copy(path, folder) for path in (identity.key, identity.chain)))

    def zone_identity(self, zone):
        return own(self.state / zone / "identity")

    def log_of(self, service):
        return read(self.state / f"{service}.log")

    def operate(self, zone, *words):
        """An operator's command that works."""
        done = self.zone(zone, *words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def hup(self, zone):
        os.kill(self.service("zbs-zone", f"{zone}.toml"), signal.SIGHUP)

    def restart(self, zones, change=lambda text: text):
        """Starts these zones anew with their configuration changed; back once they answer."""
        old = {}
        for zone in zones:
            config = self.state / f"{zone}.toml"
            config.write_text(change(config.read_text()))
            old[zone] = self.service("zbs-zone", f"{zone}.toml")
            os.kill(old[zone], signal.SIGTERM)
        for zone in zones:
            until(lambda: self.service("zbs-zone", f"{zone}.toml") not in (None, old[zone]), DEADLINE_S, f"zone {zone} is not started again")
            until(lambda: self.is_up(zone), DEADLINE_S, f"zone {zone} does not answer")

    def is_up(self, zone):
        try:
            return self.ask(zone, None, "GET", "/livez")[0] == 200
        except OSError:
            return False
