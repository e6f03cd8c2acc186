"""Sites joined by lines with a delay and a rate: hosts as namespaces (lossy_network.Host), packets carried by the program `delay_line`.

    with Wan(["a", "b", "c"], "build/release/bin/support") as wan:
        wan.join_all(Line(delay_s=0.005, rate_Bps=12.5e6))
        subprocess.run([*wan.enter("a"), "ping", "-c", "1", wan.address("b")])

Needs root and /dev/net/tun; `why_not()` says what is missing. IPv4 only. `run_mpi` starts one MPI job over the sites.
"""
import dataclasses
import os
import signal
import subprocess
import tempfile
import threading
import uuid

from plain_path import plain
from lossy_network import DEVICE, Host, why_not as why_no_namespaces

MPIEXEC, PROXY = "mpiexec.mpich", "hydra_pmi_proxy"
SEND_QUEUE = 10_000  # packets a host's device holds until the line has read them: what is dropped is dropped by the line
PROXY_END_S = 10


def why_not():
    """What hinders; empty where nothing does."""
    return why_no_namespaces() if os.geteuid() == 0 else "not root: sites need mounts and host names of their own"


@dataclasses.dataclass(frozen=True)
class Line:
    """One way of a connection. `queue_bytes` may wait for the line, what comes then is dropped; None: what the line sends in 50 ms, at least
    64 KiB. `rate_Bps` counts IP packets with their headers; 0: no bound."""
    delay_s: float
    rate_Bps: float = 0
    queue_bytes: int | None = None

    def words(self):
        queue = self.queue_bytes if self.queue_bytes is not None else max(65_536, round(self.rate_Bps * 0.05))
        return f"{round(self.delay_s * 1e6)} {round(self.rate_Bps)} {queue}"


class Wan:
    def __init__(self, names, support):
        """`support`: the folder with the program delay_line."""
        self.names = list(names)
        self.hosts, self.line = {}, None
        try:
            for number, name in enumerate(self.names):
                self.hosts[name] = host = Host(f"10.78.0.{number + 1}", f"zone-{name}")
                subprocess.run([*host.enter, "ip", "link", "set", DEVICE, "txqueuelen", str(SEND_QUEUE)], check=True, timeout=20)
            tuns = [host.tun for host in self.hosts.values()]
            self.line = subprocess.Popen([support + "/delay_line", *(f"{host.address}={host.tun}" for host in self.hosts.values())], pass_fds=tuns,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            said = self.line.stdout.readline()
            assert said == "ready\n", f"delay_line: {said!r}"
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.line is not None:
            self.line.stdin.close()
            try:
                self.line.wait(10)
            except subprocess.TimeoutExpired:
                self.line.kill()
                self.line.wait()
            self.line.stdout.close()
        for host in self.hosts.values():
            host.close()

    def _ask(self, command):
        self.line.stdin.write(command + "\n")
        self.line.stdin.flush()
        answer = self.line.stdout.readline().strip()
        assert answer and not answer.startswith("error"), f"delay_line: {command}: {answer or 'it has ended'}"
        return answer

    def _pair(self, source, target):
        return f"{self.names.index(source)} {self.names.index(target)}"

    def join(self, source, target, line):
        """From now on `source` reaches `target` by `line`; the way back is another line."""
        self._ask(f"link {self._pair(source, target)} {line.words()}")

    def join_all(self, line):
        for source in self.names:
            for target in self.names:
                if source != target:
                    self.join(source, target, line)

    def cut(self, source, target):
        self._ask(f"cut {self._pair(source, target)}")

    def carried(self, source, target):
        """Packets and bytes carried from one to the other since the start, packets dropped."""
        return tuple(map(int, self._ask(f"stats {self._pair(source, target)}").split()))

    def bytes_carried(self):
        """Between all sites, both ways."""
        return sum(self.carried(source, target)[1] for source in self.names for target in self.names if source != target)

    def address(self, name):
        return self.hosts[name].address

    def enter(self, name):
        """Words before a command that is to run at that site, in this folder."""
        return [*self.hosts[name].enter, "--wd=" + os.getcwd()]


def mpi_environment(support):
    """What MPICH 4.0.2 on UCX needs between sites; README.md of this folder says why."""
    support = plain(support)
    return {"UCX_TLS": "tcp,self", "MPIR_CVAR_NOLOCAL": "1", "UCX_WARN_UNUSED_ENV_VARS": "n", "ZBS_PROFILE": "0",
            "LD_PRELOAD": f"{support}/patient_rank.so:{support}/../../lib/libzbs-profile.so"}


class JobFailed(Exception):
    pass


MARK = "ZBS_WAN_JOB"


def _kill_marked(mark):
    """Ranks outlive proxies that are killed; they are known by their environment."""
    wanted = f"{MARK}={mark}".encode()
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as environment:
                if wanted in environment.read().split(b"\0"):
                    os.kill(int(name), signal.SIGKILL)
        except OSError:
            pass  # it has ended


def run_mpi(wan, sites, argv, folder, environment, timeout_s):
    """Runs `argv` with one rank at each of `sites` (rank 0 first; a site as often as it has ranks); the launcher is where rank 0 is. Returns what the
    program printed. One proxy for each run of ranks at one site, as zones start them. `environment` is added to this process's. JobFailed: another
    exit code than 0, or no end after `timeout_s`."""
    runs = []
    for site in sites:
        if runs and runs[-1][0] == site:
            runs[-1][1] += 1
        else:
            runs.append([site, 1])
    started = []
    with tempfile.NamedTemporaryFile("w", suffix=".hosts", dir=folder) as hosts:
        hosts.write("".join(f"zone-{site}.m{number}:{count}\n" for number, (site, count) in enumerate(runs)))
        hosts.flush()
        mark = uuid.uuid4().hex
        settings = [word for name, value in {**environment, MARK: mark}.items() for word in ("-genv", name, value)]
        command = [MPIEXEC, "-launcher", "manual", "-rmk", "user", "-f", hosts.name, "-iface", DEVICE, "-wdir", folder, *settings, "-n", str(len(sites)), *argv]
        mpiexec = subprocess.Popen([*wan.enter(sites[0]), *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        started.append(mpiexec)
        late = threading.Event()

        def end():
            late.set()
            mpiexec.kill()
        watch = threading.Timer(timeout_s, end)
        watch.start()
        said = []
        try:
            for line in mpiexec.stdout:
                if line.startswith("HYDRA_LAUNCH: "):
                    words = line.split()[1:]
                    site = runs[int(words[words.index("--proxy-id") + 1])][0]
                    started.append(subprocess.Popen([*wan.enter(site), *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
                elif line.strip() != "HYDRA_LAUNCH_END":
                    said.append(line)
            code = mpiexec.wait()
        finally:
            watch.cancel()
            for process in started:
                if not late.is_set():
                    try:
                        process.wait(PROXY_END_S)
                    except subprocess.TimeoutExpired:
                        pass
                if process.poll() is None:
                    process.kill()
                process.wait()
            _kill_marked(mark)
            mpiexec.stdout.close()
    if late.is_set():
        raise JobFailed(f"did not end within {timeout_s} s: {''.join(said)[-2000:]}")
    if code != 0:
        raise JobFailed(f"exit code {code}: {''.join(said)[-2000:]}")
    return "".join(said)
