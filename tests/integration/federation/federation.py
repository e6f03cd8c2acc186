"""A registry and three zones in the foreground of `zbs quickstart`, for tests. Everything started here is ended here."""
import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "contract"))
import service  # noqa: E402

BIN = ""


def until(condition, seconds, what):
    """Polls until `condition()` gives something true; fails with `what`, or what it gives then, after the deadline."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"after {seconds} s: {what() if callable(what) else what}")
        time.sleep(0.05)


def read(path):
    with open(path) as f:
        return f.read()


def processes():
    """pid -> (argv, environment) of all live processes of this user."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/cmdline", "rb") as f:
                argv = f.read().decode(errors="replace").split("\0")[:-1]
            with open(f"/proc/{name}/environ", "rb") as f:
                environment = f.read().decode(errors="replace")
            with open(f"/proc/{name}/stat") as f:
                state = f.read().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if argv and state not in "ZX":
            found[int(name)] = (argv, environment)
    return found


class Federation:
    def __init__(self, quickstart_options=()):
        self.folder = tempfile.mkdtemp(prefix="zbs-federation-")
        # Programs and folders of tests are root's where root runs them.
        self.quickstart_options = [*(["--user", "root"] if os.geteuid() == 0 else []), *quickstart_options]
        self.quickstart = None
        self.environment = dict(os.environ, PATH=BIN + ":" + os.environ["PATH"], XDG_STATE_HOME=self.folder + "/client",
                                OMP_ZBS_TEST_FEDERATION=self.folder,  # a name that goes along to the job
                                UCX_TLS="tcp,self")  # ranks of two zones talk TCP; shared memory hides faults

    def __enter__(self):
        path = self.folder + "/environment"
        self.log = open(self.folder + "/quickstart.log", "w")
        self.quickstart = subprocess.Popen([BIN + "/zbs", "quickstart", "--folder", self.folder + "/state", "--environment-file", path,
                                            *self.quickstart_options],
                                           stdout=self.log, stderr=subprocess.STDOUT, start_new_session=True)
        until(lambda: os.path.exists(path) or self.quickstart.poll() is not None, 40, "the federation is not up")
        assert self.quickstart.poll() is None, read(self.folder + "/quickstart.log")
        for line in read(path).splitlines():
            name, value = line.removeprefix("export ").strip().split("=", 1)
            self.environment[name] = value
        self.url = read(self.environment["ZBS_CREDENTIALS"] + "/home").split()[0]
        return self

    def __exit__(self, *_):
        self.quickstart.send_signal(signal.SIGTERM)
        try:
            self.quickstart.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self.quickstart.pid, signal.SIGKILL)
            self.quickstart.wait()
        self.log.close()
        leftovers = self.job_processes()
        for pid in leftovers:
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)
        assert not leftovers, f"left over after the stop of all services: {leftovers}"

    def zone(self, name, *arguments, timeout=30):
        """zbs-zone as the operator of zone `name`."""
        return subprocess.run([BIN + "/zbs-zone", *arguments, "--config", f"{self.folder}/state/{name}.toml"], capture_output=True, text=True, timeout=timeout)

    def log_in(self, zone, user, *options):
        """A user of that zone's organisation; her folder of credentials."""
        added = self.zone(zone, "user", "add", user, *options)
        assert added.returncode == 0, added.stderr
        folder = f"{self.folder}/credentials-{zone}-{user}"
        done = subprocess.run([BIN + "/zbs", "--credentials", folder, *added.stdout.split()[1:]], capture_output=True, text=True, timeout=30)
        assert done.returncode == 0, done.stderr
        return folder

    def zbs(self, *arguments, timeout=60, cwd=None, env=None):
        try:
            return subprocess.run([BIN + "/zbs", *arguments], capture_output=True, text=True, timeout=timeout, cwd=cwd,
                                  env=dict(self.environment, **(env or {})))
        except subprocess.TimeoutExpired:
            # The output of the test is all that is left of the federation.
            for words in (["list"], ["show", "last"], ["zone", "list"]):
                state = subprocess.run([BIN + "/zbs", *words], capture_output=True, text=True, timeout=30, env=self.environment)
                print("zbs", *words, "\n" + state.stdout + state.stderr, file=sys.stderr)
            raise

    def start(self, *arguments):
        return subprocess.Popen([BIN + "/zbs", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment)

    def submit(self, *arguments):
        done = self.zbs("submit", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def show(self, application):
        return json.loads(self.zbs("show", application, "-o", "json").stdout)

    def wait_state(self, application, states, seconds=30):
        return until(lambda: (lambda v: v if v["state"] in states else None)(self.show(application)), seconds, f"{application} is not {states}")

    def zone_url(self, name):
        for line in read(f"{self.folder}/state/{name}.toml").splitlines():
            if line.startswith("listen"):
                return "https://" + line.split('"')[1]
        raise AssertionError(name)

    def identity(self, who):
        """Folder of keys: "you", "operator X" or "zone X"; None: nobody."""
        kind, _, zone = who.partition(" ")
        state = self.folder + "/state"
        return {"you": self.environment["ZBS_CREDENTIALS"], "operator": f"{state}/{zone}/identity/operator", "zone": f"{state}/{zone}/identity"}[kind]

    def tls(self, folder):
        """What a client with the keys of `folder` believes and shows; every zone's own bundle, for any host name."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        for zone in "abc":
            context.load_verify_locations(f"{self.folder}/state/{zone}/identity/bundle.pem")
        if folder:
            context.load_cert_chain(folder + "/certificate.pem", folder + "/key.pem")
        return context

    def call(self, url, method="GET", body=None, who="you", folder=None):
        """Status and JSON of one request, with the keys of `who`, or of any `folder`."""
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(url, data=data, method=method, headers={"Content-Type": "application/json"})
        context = self.tls(folder or (self.identity(who) if who else None))
        try:
            with urllib.request.urlopen(request, timeout=10, context=context) as answer:
                return answer.status, json.loads(self.checked(url, method, answer.status, answer.headers, answer.read()))
        except urllib.error.HTTPError as fault:
            return fault.code, json.loads(self.checked(url, method, fault.code, fault.headers, fault.read()))

    def checked(self, url, method, status, headers, body):
        kind = "zone" if any(url.startswith(self.zone_url(zone) + "/") for zone in "abc") else "registry"
        parts = urllib.parse.urlsplit(url)
        return service.checked(kind, method, parts.path + ("?" + parts.query if parts.query else ""), status, headers, body)

    def used(self):
        """Processors held in each zone, as its own user sees them."""
        total = {}
        for zone in "abc":
            try:
                _, answer = self.call(self.zone_url(zone) + "/v1/nodes", who=f"operator {zone}")
            except OSError:
                return {"a zone is down": 1}
            total[zone] = sum(node["used"] for node in answer["nodes"])
        return total

    def idle(self):
        return all(n == 0 for n in self.used().values())

    def job_processes(self):
        """Everything of jobs of this federation: supervisors, launcher, proxies, ranks."""
        marked = {}
        for pid, (argv, environment) in processes().items():
            if self.folder + "/state/" in environment or any(self.folder + "/state/" in word and "/steps/" in word for word in argv):
                marked[pid] = argv
            elif "\0ZBS_STEP_" in "\0" + environment and "OMP_ZBS_TEST_FEDERATION=" + self.folder in environment:
                marked[pid] = argv
        return marked

    def service(self, *words):
        """Pid of the service whose command line holds all `words`."""
        for pid, (argv, _) in processes().items():
            if all(any(word in part for part in argv) for word in (*words, self.folder)) and "quickstart" not in argv and "zbs-step" not in argv[0]:
                return pid
        return None
