"""A job that attacks the zone that runs it. Writes one JSON line per attack to the file RESULTS: its name, whether it succeeded, what it saw.

An attack is a function that returns what it got; it has succeeded if that is neither None nor False.
"""
import ctypes
import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
import tempfile

STATE, HOME, BIN, CANARY_HEAD = os.environ["STATE"], os.environ["HOME_OF_STATE"], os.environ["BIN"], os.environ["CANARY_HEAD"]
ZONE = int(os.environ["ZONE_PID"])
TAG = os.environ["TAG"]
STEPS = STATE + "/steps"
libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID = 0x20000, 0x10000000, 0x20000000
MS_BIND, MS_REC, MS_MOVE, MS_PRIVATE, MNT_DETACH = 4096, 16384, 8192, 1 << 18, 2
ATTACKS = []


def attack(function):
    ATTACKS.append(function)
    return function


def call(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def secret(path):
    """What of the zone's secrets is in a file."""
    with open(path, "rb") as file:
        text = file.read(1 << 20)
    return CANARY_HEAD if CANARY_HEAD.encode() in text else None


def first(works):
    """What the first that works got; else, where none did, the last one's fault."""
    fault = None
    for work in works:
        try:
            got = work()
        except (OSError, ValueError) as refused:
            fault = refused
            continue
        if got is not None and got is not False:
            return got
    if fault:
        raise fault
    return None


def in_child(work):
    """Runs `work` in a child process, for what would change this one; its answer."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            got = work()
        except BaseException as fault:  # noqa: it goes to the parent
            got = None
            os.write(write_end, f"!{type(fault).__name__}: {fault}".encode())
        if got is not None and got is not False:
            os.write(write_end, str(got).encode())
        os._exit(0)
    os.close(write_end)
    text = os.read(read_end, 4096).decode()
    os.close(read_end)
    os.waitpid(child, 0)
    if text.startswith("!"):
        raise ValueError(text[1:])
    return text or None


def others():
    """Processes that are not this job's, as far as they can be seen."""
    own = {os.getpid()}
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in own:
            found.append(int(name))
    return [ZONE] + [pid for pid in found if pid != ZONE]


def services():
    """The zone and the supervisors; a number that cannot be looked at is tried all the same where it is the zone's."""
    def is_service(pid):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                return b"--supervisor" in (words := file.read()) or b"--operation" in words
        except OSError:
            return False
    return [ZONE, *(pid for pid in others() if is_service(pid))]


def private_files():
    return [f"{STATE}/{name}" for name in ("zone.db", "zone.db-wal", "audit.db", "local_token", "identity/zone.pem")] + [STEPS + "/neighbour/job/secret"]


# ---- files
@attack
def read_database(): return secret(STATE + "/zone.db")
@attack
def read_journal(): return secret(STATE + "/zone.db-wal")
@attack
def read_audit_log(): return secret(STATE + "/audit.db")
@attack
def read_token(): return secret(STATE + "/local_token")
@attack
def read_key(): return secret(STATE + "/identity/zone.pem")
@attack
def read_other_job(): return secret(STEPS + "/neighbour/job/secret")


@attack
def list_state():
    return sorted(set(os.listdir(STATE)) - {"steps"}) or sorted(set(os.listdir(STEPS)) - {"job-1"}) or None


@attack
def climb_from_working_directory():
    return first(lambda path=path: secret(path) for path in ("../../../zone.db", "../../neighbour/job/secret", "/proc/self/cwd/../../../zone.db", "/proc/1/cwd/zone.db", "/proc/1/root" + STATE + "/zone.db"))


@attack
def read_through_inherited_descriptor():
    def look(number):
        if number > 2 and stat.S_ISREG(os.fstat(number).st_mode):
            return CANARY_HEAD if CANARY_HEAD.encode() in os.pread(number, 1 << 16, 0) else None
        return None
    def climb(number):
        return secret(f"/proc/self/fd/{number}/../../../zone.db")
    return first([*(lambda n=n: look(n) for n in range(3, 256)), *(lambda n=n: climb(n) for n in range(256))])


@attack
def own_environment_has_secret():
    return next((name for name, value in os.environ.items() if CANARY_HEAD in value and name != "CANARY_HEAD"), None)


@attack
def write_database():
    with open(STATE + "/zone.db", "r+b"):
        return "opened"


@attack
def write_control_files():
    def touch(name):
        with open(f"{STEPS}/job-1/{name}", "a"):
            return name
    return first(lambda name=name: touch(name) for name in ("exit", "stop", "lock", "supervisor", "exit.new"))


@attack
def write_other_job():
    with open(STEPS + "/neighbour/job/planted", "w"):
        return "planted"


@attack
def replace_own_folder():
    os.rename(STEPS + "/job-1/job", STEPS + "/job-1/moved")
    os.rename(STEPS + "/job-1/moved", STEPS + "/job-1/job")
    return "renamed"


@attack
def replace_state_folder():
    def swap(path):
        os.rename(path, path + ".moved")
        os.rename(path + ".moved", path)
        return path
    return first(lambda path=path: swap(path) for path in (STATE, HOME))


@attack
def change_supervisor_program():
    def append():
        with open(BIN + "/zbs-step", "ab"):
            return "opened"
    def swap():
        os.rename(BIN, BIN + ".moved")
        os.rename(BIN + ".moved", BIN)
        return "renamed"
    def plant():
        with open(BIN + "/planted", "w"):
            return "planted"
    return first([append, swap, plant])


# ---- processes
@attack
def read_environment_of_zone(): return first(lambda p=p: secret(f"/proc/{p}/environ") for p in services())
@attack
def read_root_of_zone(): return first(lambda p=p, f=f: secret(f"/proc/{p}/root{f}") for p in services() for f in private_files())
@attack
def read_folder_of_zone(): return first(lambda p=p: secret(f"/proc/{p}/cwd/zone.db") for p in services())
@attack
def read_files_of_zone(): return first(lambda p=p, n=n: secret(f"/proc/{p}/fd/{n}") for p in services() for n in range(32))
@attack
def read_environment_of_other_job(): return first(lambda p=p: secret(f"/proc/{p}/environ") for p in others())
@attack
def read_root_of_others(): return first(lambda p=p, f=f: secret(f"/proc/{p}/root{f}") for p in others() for f in private_files())


@attack
def read_memory_of_zone():
    def look(pid):
        with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb") as memory:
            for line in maps:
                if "[stack]" in line:
                    begin, end = (int(x, 16) for x in line.split()[0].split("-"))
                    memory.seek(begin)
                    return CANARY_HEAD if CANARY_HEAD.encode() in memory.read(end - begin) else None
        return None
    return first(lambda p=p: look(p) for p in services())


def trace(pid):
    call(libc.ptrace(16, pid, None, None))  # PTRACE_ATTACH
    os.waitpid(pid, 0x40000000)
    libc.ptrace(17, pid, None, None)
    return pid


@attack
def trace_zone(): return in_child(lambda: first(lambda p=p: trace(p) for p in services()))


@attack
def trace_other_job():
    def trace_sleeper(pid):
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return trace(pid) if file.read().startswith(b"sleep\x00300") else None
    return in_child(lambda: first(lambda p=p: trace_sleeper(p) for p in others()))


@attack
def signal_zone():
    """By its number, whether it can be seen or not."""
    os.kill(ZONE, 0)
    return "could"


@attack
def signal_supervisor():
    """Of any job."""
    def hit(pid):
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read().split(b"\0")
        if b"--operation" not in words:
            return None
        with open(f"/proc/{pid}/status") as status:  # the first process of this job's own namespace is not the supervisor
            numbers = next(line for line in status if line.startswith("NSpid")).split()[1:]
        if len(numbers) > 1 or pid == 1:
            return None
        os.kill(pid, 0)
        return pid
    return first(lambda p=p: hit(p) for p in others())


# ---- privileges
@attack
def gain_by_setuid_program():
    for program in ("/usr/bin/su", "/usr/bin/passwd", "/usr/bin/newgrp", "/usr/bin/chsh", "/usr/bin/mount"):
        if os.getuid() == 0 or not os.path.exists(program) or not os.stat(program).st_mode & stat.S_ISUID:
            continue
        child = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            for _ in range(200):
                with open(f"/proc/{child.pid}/status") as status:
                    ids = next(line for line in status if line.startswith("Uid")).split()
                if ids[2] != str(os.getuid()):
                    return program
                if child.poll() is not None:
                    break
        finally:
            child.kill()
            child.wait()
    return None


@attack
def become_root():
    if os.getuid() == 0:
        return None
    return in_child(lambda: first([lambda: os.setuid(0) or "root", lambda: os.setresuid(0, 0, 0) or "root", lambda: os.setgroups([0]) or "groups"]))


@attack
def unhide_by_unmounting():
    return in_child(lambda: first(lambda path=path: call(libc.umount2(path.encode(), MNT_DETACH)) or first(lambda f=f: secret(f) for f in private_files()) for path in (STATE, STEPS, HOME, "/proc")))


def with_own_mounts(work):
    """`work` with all capabilities in namespaces of its own making, in which this user stays who it is."""
    def inner():
        uid, gid = os.getuid(), os.getgid()
        call(libc.unshare(CLONE_NEWUSER | CLONE_NEWNS))
        for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
            with open("/proc/self/" + name, "w") as file:
                file.write(text)
        call(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None))
        return work()
    return in_child(inner)


def any_secret(prefix=""):
    return first(lambda f=f: secret(prefix + f) for f in private_files())


@attack
def unhide_in_new_namespace():
    return with_own_mounts(lambda: first(lambda path=path: call(libc.umount2(path.encode(), MNT_DETACH)) or any_secret() for path in (STATE, STEPS)))


@attack
def unhide_by_binding_root():
    def work():
        target = tempfile.mkdtemp()
        call(libc.mount(b"/", target.encode(), None, MS_BIND, None))  # without what is mounted on it
        return any_secret(target)
    return with_own_mounts(work)


@attack
def unhide_in_recursive_copy():
    def work():
        target = tempfile.mkdtemp()
        call(libc.mount(b"/", target.encode(), None, MS_BIND | MS_REC, None))
        return first(lambda path=path: call(libc.umount2((target + path).encode(), MNT_DETACH)) or any_secret(target) for path in (STATE, STEPS, HOME))
    return with_own_mounts(work)


@attack
def unhide_by_moving_the_cover():
    def work():
        target = tempfile.mkdtemp()
        return first(lambda path=path: call(libc.mount(path.encode(), target.encode(), None, MS_MOVE, None)) or any_secret() for path in (STATE, STEPS))
    return with_own_mounts(work)


@attack
def look_with_capabilities_of_new_namespace():
    return with_own_mounts(lambda: read_environment_of_zone() or read_root_of_zone() or read_files_of_zone())


@attack
def join_namespace_of_other():
    def join(pid, kind):
        fd = os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY)
        call(libc.setns(fd, 0))
        return any_secret()
    pairs = [(p, k) for p in [1, os.getppid(), *others()] for k in ("user", "mnt")]
    return in_child(lambda: first(lambda p=p, k=k: join(p, k) for p, k in pairs))


@attack
def write_control_groups():
    def add(path):
        with open(path, "a"):
            return path
    tops = ["/sys/fs/cgroup", *(f"/sys/fs/cgroup/{name}" for name in (os.listdir("/sys/fs/cgroup") if os.path.isdir("/sys/fs/cgroup") else []))]
    return first(lambda path=path: add(path + "/cgroup.procs") for path in tops)


# ---- what it leaves
def plant():
    """For the zone to stumble over when it reads this job's files."""
    def quietly(work):
        try:
            work()
        except OSError:
            pass
    os.symlink(os.path.relpath(STATE + "/zone.db"), "link")
    os.symlink("link", "chain")
    os.mkfifo("fifo")
    for target in (STATE + "/zone.db", "/etc/shadow"):
        quietly(lambda: os.link(target, "hard"))
    quietly(lambda: os.mknod("device", 0o600 | stat.S_IFCHR, os.makedev(1, 5)))
    if os.path.exists(".zbs-stdout"):
        os.unlink(".zbs-stdout")
    os.symlink(STATE + "/zone.db", ".zbs-stdout")


def leave_daemon():
    """Out of session, environment and parents of this job; deaf to what can be ignored."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            lease = os.open("leased", os.O_RDWR | os.O_CREAT, 0o600)
            os.set_inheritable(lease, True)
            signal.signal(signal.SIGIO, signal.SIG_IGN)
            fcntl.fcntl(lease, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            os.execve("/bin/sleep", [TAG, "1000"], {})
        os._exit(0)
    os.wait()


def main():
    with open(os.environ["RESULTS"], "w") as results:
        for work in ATTACKS:
            try:
                got = work()
                detail = str(got)
            except Exception as fault:  # noqa: an attack that fails in any way has failed
                got, detail = None, f"{type(fault).__name__}: {fault}"
            print(json.dumps({"attack": work.__name__, "succeeded": got is not None and got is not False, "detail": detail}), file=results, flush=True)
    if os.environ.get("PLANT") == "yes":
        plant()
        leave_daemon()


if __name__ == "__main__":
    sys.exit(main())
