"""Keys and certificates for tests of services: what an organisation's CA could give out, and what its people could sign."""
import datetime
import pathlib
import ssl
import subprocess
import tempfile

POLICY_LANGUAGE = "2.25.72542147580792764423762282507431977773"  # of ZBS: services/common/adapters/openssl/README.md
PROXIES = {"full": "id-ppl-inheritAll", "limited": "1.3.6.1.4.1.3536.1.1.1.9"}


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=60, **options)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


class Identity:
    """A key and a chain in files."""

    def __init__(self, key, chain):
        self.key, self.chain = key, chain


def own(folder):
    """The identity that a program keeps in `folder`."""
    return Identity(folder / "key.pem", folder / "certificate.pem")


class Organisations:
    """Issues in the name of organisations whose CA keys lie in `cas`."""

    def __init__(self, folder, cas):
        self.folder, self.cas = folder, cas

    def issue(self, organisation, kind, name, days=2):
        """A certificate by an organisation's CA, as it could give out to anybody of its own; -1 days: it ended yesterday."""
        base = self.folder / f"{organisation}-{kind}-{name}{days}"
        key, request, leaf = (base.with_suffix(suffix) for suffix in (".key", ".csr", ".pem"))
        if not leaf.exists():
            usage = "serverAuth,clientAuth" if kind in ("zone", "node") else "clientAuth"
            base.with_suffix(".cnf").write_text(f"basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage={usage}\n"
                                                f"subjectAltName=URI:spiffe://{organisation}/{kind}/{name}\nauthorityKeyIdentifier=keyid\nsubjectKeyIdentifier=hash\n")
            run("openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", request, "-subj", f"/O={organisation}/CN={name}")
            ca = self.cas[organisation]
            run("openssl", "x509", "-req", "-in", request, "-CA", ca / "ca.pem", "-CAkey", ca / "ca_key.pem", "-days", str(days), "-out", leaf, "-extfile", base.with_suffix(".cnf"))
        return Identity(key, leaf)

    def proxy(self, kind, issuer):
        """An RFC 3820 proxy, as grid-proxy-init makes it."""
        base = issuer.chain.with_suffix(f".{kind}")
        key, request, leaf, chain = (pathlib.Path(str(base) + suffix) for suffix in (".key", ".csr", ".leaf", ".pem"))
        if not chain.exists():
            subject = run("openssl", "x509", "-in", issuer.chain, "-noout", "-subject", "-nameopt", "compat").split("subject=")[1].strip()
            subject = "/" + subject.lstrip("/").replace(", ", "/")
            settings = pathlib.Path(str(base) + ".cnf")
            settings.write_text(f"keyUsage=critical,digitalSignature\nproxyCertInfo=critical,language:{PROXIES[kind]}\n")
            run("openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", request, "-subj", subject + "/CN=4711")
            run("openssl", "x509", "-req", "-in", request, "-CA", issuer.chain, "-CAkey", issuer.key, "-set_serial", "4711", "-days", "1", "-out", leaf, "-extfile", settings)
            chain.write_text(leaf.read_text() + issuer.chain.read_text())
        return Identity(key, chain)

    def sign_proxy(self, issuer, request, policy, seconds, language=POLICY_LANGUAGE):
        """The chain that begins with a proxy for the key of `request` (PEM), which ends `seconds` from now."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        subject = run("openssl", "x509", "-in", issuer.chain, "-noout", "-subject", "-nameopt", "compat").split("subject=")[1].strip()
        terms = f",pathlen:0,policy:text:{policy}" if policy else ""
        (folder / "csr").write_text(request)
        (folder / "index").write_text("")
        (folder / "cnf").write_text(f"[ca]\ndefault_ca=own\n[own]\ndatabase={folder}/index\nnew_certs_dir={folder}\nrand_serial=yes\ndefault_md=sha256\npolicy=any\n"
                                    "preserve=yes\nunique_subject=no\n[any]\norganizationName=optional\norganizationalUnitName=optional\ncommonName=optional\n"
                                    f"[proxy]\nkeyUsage=critical,digitalSignature\nproxyCertInfo=critical,language:{language}{terms}\n")
        now = datetime.datetime.now(datetime.timezone.utc)
        begin, end = (f"{now + datetime.timedelta(seconds=offset):%Y%m%d%H%M%SZ}" for offset in (min(seconds, 0) - 60, seconds))
        run("openssl", "ca", "-batch", "-notext", "-config", folder / "cnf", "-extensions", "proxy", "-cert", issuer.chain, "-keyfile", issuer.key, "-in", folder / "csr",
            "-subj", "/" + subject.lstrip("/").replace(", ", "/") + "/CN=4712", "-startdate", begin, "-enddate", end, "-out", folder / "leaf")
        return (folder / "leaf").read_text() + issuer.chain.read_text()


def context(identity=None, newest=ssl.TLSVersion.TLSv1_3, protocols=()):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname, made.verify_mode, made.maximum_version = False, ssl.CERT_NONE, newest
    if protocols:
        made.set_alpn_protocols(list(protocols))
    if identity:
        made.load_cert_chain(identity.chain, identity.key)
    return made
