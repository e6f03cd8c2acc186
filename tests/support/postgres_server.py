"""A PostgreSQL of its own: in a temporary folder, reached by a socket in it and nothing else, or over TCP on loopback with a password in a file; as an unprivileged account where the test is root.

    with PostgresServer() as server:
        server.url, server.ask("SELECT 1")

Needs Debian's package postgresql: `missing()` says what is not there. Everything started here is ended here, by its process.
"""
import glob
import os
import pwd
import secrets
import shutil
import subprocess
import tempfile

from ports import free_port

SKIPPED = 77  # exit code of a test that cannot run here
WAIT_S = 120


def programs():
    """Folder of the newest version installed; None where none is."""
    found = [path for path in glob.glob("/usr/lib/postgresql/*/bin") if os.access(f"{path}/initdb", os.X_OK)]
    return max(found, key=lambda path: int(path.split("/")[4])) if found else None


def missing():
    return "" if programs() else "no PostgreSQL here: install Debian's package postgresql"


class PostgresServer:
    def __init__(self, over_tcp=False):
        self.port = free_port() if over_tcp else 5432  # of the socket's name, too
        self.addresses = "127.0.0.1" if over_tcp else ""
        self.bin = programs()
        in_memory = os.path.isdir("/dev/shm") and shutil.disk_usage("/dev/shm").free > 1e9  # commits and recovery wait for no disk there
        self.folder = tempfile.mkdtemp(prefix="zbs-postgres-", dir="/dev/shm" if in_memory else None)
        self.as_user = {}
        if os.geteuid() == 0:
            names = {entry.pw_name for entry in pwd.getpwall()}
            account = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
            os.chown(self.folder, account.pw_uid, account.pw_gid)
            self.as_user = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        self.url = f"postgresql://zbs@/zbs?host={self.folder}"
        self.authentication = ["--auth=trust"]
        if over_tcp:
            password = secrets.token_hex(16)
            self.passfile = tempfile.NamedTemporaryFile("w", prefix="zbs-pgpass-")  # 0600, and not the server's
            self.passfile.write(f"127.0.0.1:{self.port}:zbs:zbs:{password}\n")
            self.passfile.flush()
            self.url = f"postgresql://zbs@127.0.0.1:{self.port}/zbs?passfile={self.passfile.name}"
            with open(f"{self.folder}/password", "w") as file:
                file.write(password + "\n")
            os.chmod(f"{self.folder}/password", 0o644)  # in a folder of the server's own
            self.authentication = ["--auth-local=trust", "--auth-host=scram-sha-256", f"--pwfile={self.folder}/password"]

    def __enter__(self):
        try:
            self._run("initdb", "-D", f"{self.folder}/data", "-U", "zbs", *self.authentication, "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
            self.start()
            self._run("createdb", "-h", self.folder, "-U", "zbs", "zbs")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if os.path.exists(f"{self.folder}/data/postmaster.pid"):
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self):
        self._run("pg_ctl", "-w", "-t", str(WAIT_S), "-D", f"{self.folder}/data", "-l", f"{self.folder}/log", "-o", f"-k {self.folder} -p {self.port} -c listen_addresses={self.addresses} -c shared_buffers=16MB", "start")

    def stop(self, mode="immediate"):
        """`immediate`: as a power cut."""
        self._run("pg_ctl", "-w", "-t", str(WAIT_S), "-D", f"{self.folder}/data", "-m", mode, "stop")

    def ask(self, sql):
        """Lines of the answer, columns apart by |."""
        return self._run("psql", "-h", self.folder, "-U", "zbs", "-d", "zbs", "-v", "ON_ERROR_STOP=1", "-Atc", sql).splitlines()

    def _run(self, program, *arguments):
        done = subprocess.run([f"{self.bin}/{program}", *arguments], **self.as_user, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=2 * WAIT_S, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "PGPORT": str(self.port)})
        assert done.returncode == 0, (program, done.stdout)
        return done.stdout
