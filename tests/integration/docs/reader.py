"""One reader of a page, in a folder of her own, with one shell; what she starts is ended by `close`."""
import os
import pathlib
import queue
import re
import signal
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "federation"), str(HERE.parents[1] / "support")]

from federation import until  # noqa: E402
from pages import Command, Elsewhere, File, Untested, as_told  # noqa: E402
from ports import free_port  # noqa: E402

GROUPS = ("audit", "config", "database", "node", "organisation", "peer", "profile", "queue", "user", "zone")  # whose commands have a second word
DEADLINE_S = float(os.environ.get("ZBS_DEADLINE_S", "60"))
MARK = "\x1e"
FOLDERS = ("/etc/default", "/etc/zbs", "/var/lib/zbs-registry", "/var/lib/zbs", "/backup")  # of a page: inside of the reader's folder here
PORT = re.compile(r"\b70\d\d\b")


def program_of(pid):
    """The program that runs in `pid`: itself, or the child of a shell that waits for it."""
    if pathlib.Path(f"/proc/{pid}/comm").read_text() != "bash\n":
        return pid
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(children[0]) if children else pid


class Reader:
    def __init__(self, folder, bin_folder, source):
        self.folder, self.source = pathlib.Path(folder), pathlib.Path(source)
        self.folder.chmod(0o755)  # jobs of other accounts begin here
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ZBS_", "XDG_"))}
        environment = dict(kept, HOME=str(self.folder), ZBS=str(self.source), PATH=f"{bin_folder}:{os.environ['PATH']}", LC_ALL="C.UTF-8", PS1="", PS2="")
        self.ports, self.services, self.lines, self.said, self.terminals, self.patience_s = {}, [], queue.Queue(), "", 0, DEADLINE_S
        self.shell = subprocess.Popen(["bash", "--norc", "--noprofile"], cwd=self.folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        for line in self.shell.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def here(self, text):
        """`text` with the page's folders and ports as they are here."""
        if os.geteuid() == 0:  # programs and folders of tests are root's where root runs them
            text = re.sub("zbs quickstart(?! --user)", "zbs quickstart --user root", text)
        for name in FOLDERS:
            text = re.sub(rf"(?<![\w/.]){name}(?![\w])", f"{self.folder}{name}", text)
        return PORT.sub(lambda port: str(self.ports.setdefault(port.group(), free_port())), text)

    def do(self, step):
        if isinstance(step, File):
            path = self.folder / self.here(step.name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.here(step.text))
        elif isinstance(step, Elsewhere):
            self.look_up(step)
        elif isinstance(step, Untested):
            pass
        elif step.stays:
            self.start(step)
        else:
            self.run(step)

    def look_up(self, step):
        """Each command is in the place that the page names: program, subcommand and the options that the page shows. Or that place runs the commands of pages."""
        text = (self.source / step.place).read_text()
        if step.from_here:
            assert "pages.steps" in text, f"line {step.line}: {step.place} runs no commands of pages"
            return
        lines = [line for line in text.splitlines() if "assert" not in line]  # whose messages are no commands
        for command in step.commands:
            words = command.split("#")[0].split()
            options = [word.split("=")[0] for word in words if word.startswith("--")]
            words = words[:3] if words[1:2] and words[1] in GROUPS else words[:2]
            said = r"(?![\w-]).*(?<![\w-])".join(re.escape(word.split("/")[-1]) for word in words)
            is_there = any(re.search(rf"(?<![\w-]){said}(?![\w-])", line) for line in lines)
            assert is_there, f"line {step.line}: {step.place} does not run '{' '.join(words)}'"
            missing = [option for option in options if not any(option in line for line in lines)]
            assert not missing, f"line {step.line}: {step.place} runs '{' '.join(words)}' without {' and '.join(missing)}"

    def execute(self, text):
        """Code and output of one command in the reader's shell."""
        self.shell.stdin.write(f"{{ {text}\n}} </dev/null\nprintf '{MARK}%d\\n' $?\n")
        self.shell.stdin.flush()
        output, deadline = "", time.monotonic() + self.patience_s
        while True:
            try:
                line = self.lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no end after {self.patience_s} s: {text}\n{output}") from None
            assert line is not None, f"the shell has ended: {text}\n{output}"
            before, mark, code = line.partition(MARK)
            output += before
            if mark:
                return int(code), output

    def run(self, step: Command):
        text, expected = self.here(step.text), [self.here(line) for line in step.expected]
        deadline = time.monotonic() + DEADLINE_S
        while True:
            code, output = self.execute(text)
            self.said = output
            good = code == 0 and (not expected or as_told(expected, output))
            if good or not step.again or time.monotonic() > deadline:
                break
            time.sleep(0.2)
        assert code == 0, f"line {step.line}: {text}\nended with {code}:\n{output}"
        assert good, f"line {step.line}: {text}\nprinted\n{output}\nand not\n" + "\n".join(expected)

    def start(self, step: Command):
        """A command of another terminal: here until it has printed what the page shows."""
        self.terminals += 1
        log = self.folder / f".terminal-{self.terminals}"
        log.touch()
        expected = [self.here(line) for line in step.expected]
        code, pid = self.execute(f"{{ {self.here(step.text)}\n}} >{log} 2>&1 & echo $!")
        assert code == 0
        self.services.append((step, log, int(re.findall(r"\d+", pid)[-1])))
        until(lambda: as_told(expected + ["..."], log.read_text()), DEADLINE_S, lambda: f"line {step.line}: {step.text}\nprinted\n{log.read_text()}")

    def end(self, service):
        """What was started by `start`, as Ctrl-C does in its terminal."""
        self.services.remove(service)
        pid = service[2]
        self.execute(f"kill -TERM {program_of(pid)}; wait {pid}")

    def close(self):
        """Ends the services, last first, as a reader does; then whatever is left, also where a command does not end."""
        try:
            for service in reversed(self.services[:]):
                self.end(service)
            self.shell.stdin.close()
            self.shell.wait(DEADLINE_S)
        finally:
            try:
                os.killpg(self.shell.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.shell.wait()
            self.shell.stdout.close()
