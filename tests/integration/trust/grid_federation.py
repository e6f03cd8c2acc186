"""The federation of `zbs quickstart`, but organisation org-a has a CA as grids have them (RSA, made elsewhere), imported by its zone; and
proxies as `grid-proxy-init` of Debian's globus-proxy-utils makes them."""
import os
import pathlib
import shutil
import subprocess

from live import Live, Organisations, federation
from identities import run

GRID_PROXY_INIT = "/usr/bin/grid-proxy-init"


class GridFederation(Live):
    def __enter__(self):
        folder = pathlib.Path(self.folder)
        ca = folder / "grid-ca"
        for made in (ca, folder / "state"):
            made.mkdir(mode=0o700)
        run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", ca / "ca_key.pem", "-out", ca / "ca.pem", "-days", "30", "-subj", "/O=org-a/CN=Grid CA",
            "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign,cRLSign")
        grid = Organisations(ca, {"org-a": ca})
        zone, person = grid.issue("org-a", "zone", "a"), grid.issue("org-a", "operator", "operator")
        (folder / "init.toml").write_text(f'name = "a"\norganisation = "org-a"\nstate = "{folder}/state/a"\n[[machine]]\nname = "m"\nprocessors = 1\n')
        run(federation.BIN + "/zbs-zone", "init", "--key", zone.key, "--certificate", zone.chain, "--bundle", ca / "ca.pem", "--ca", ca / "ca.pem", "--ca-key", ca / "ca_key.pem",
            "--operator-key", person.key, "--operator-certificate", person.chain, "--config", folder / "init.toml")
        self.certificates = folder / "certificates"
        self.certificates.mkdir()
        shutil.copy(ca / "ca.pem", self.certificates / (run("openssl", "x509", "-in", ca / "ca.pem", "-noout", "-subject_hash").strip() + ".0"))
        return super().__enter__()

    def grid_proxy(self, credentials, *options):
        """The file that grid-proxy-init wrote for the certificate in this folder."""
        file = pathlib.Path(self.folder) / f"proxy-{len(options)}-{abs(hash(options))}"
        run(GRID_PROXY_INIT, "-q", *options, "-cert", f"{credentials}/certificate.pem", "-key", f"{credentials}/key.pem", "-certdir", self.certificates, "-out", file)
        return file

    def act(self, credentials, proxy, *words):
        """`zbs` as users of grids have it: the proxy by X509_USER_PROXY."""
        return subprocess.run([federation.BIN + "/zbs", "--credentials", credentials, *words], capture_output=True, text=True, timeout=60,
                              env=dict(os.environ, PATH=self.environment["PATH"], XDG_STATE_HOME=self.folder + "/client", X509_USER_PROXY=str(proxy)))
