"""Does what docs/federation.md says, on this machine: its commands, with nothing but the examples in them replaced."""
import os
import pathlib
import pwd
import re
import select
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "federation"))

from federation import until  # noqa: E402
from page import PROGRAMS  # noqa: E402

DEADLINE_S = 30
ANY_PORT = {"0.0.0.0:7001": "127.0.0.1:0", "0.0.0.0": "127.0.0.1", "7000": "0", "registry.example.org": "127.0.0.1", "zone-a.example.org": "127.0.0.1"}
SMALL = {"64": "2", "96": "3"}  # processors of a zone; ranks of the program
MADE_UP = re.compile(r"\.\.\.|example\.org|\b[A-Z]{4,}\b")  # what only stands for something


def account():
    """In place of guest. Root needs an account that exists; all others are the only one that there is."""
    return "nobody" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name


class Walk:
    """One reader in a folder of her own. `stop` ends the services."""

    def __init__(self, folder, bin_folder):
        self.folder, self.bin = pathlib.Path(folder), pathlib.Path(bin_folder)
        self.folder.chmod(0o755)  # jobs of other accounts begin here
        shutil.copy(self.bin / "apps/ring", self.folder / "my_program")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ZBS_", "XDG_"))}
        self.environment = dict(kept, HOME=str(self.folder / "home"))
        self.tokens, self.fingerprints, self.code = {}, {}, None
        self.services = []

    def write_configuration(self, zone, text):
        """The file of zone a of the page, as zone `zone` would have it here."""
        for example, here in ({"/var/lib/zbs": f"{self.folder}/state-{zone}", '"guest"': f'"{account()}"'} | ANY_PORT | SMALL).items():
            text = text.replace(example, here) if example in text else text
        assert not MADE_UP.search(re.sub("#.*", "", text)), text
        text = text.replace("zone-a", f"zone-{zone}").replace("org-a", f"org-{zone}")
        here = "allow_private_addresses = true\nshared_memory = true\n"  # two zones on one machine, as the page says
        (self.folder / f"zone-{zone}.toml").write_text(here + text)

    def localized(self, words):
        """The command as it would be written here and now."""
        config = dict(zip(words, words[1:])).get("--config", "")
        zone = config.removeprefix("zone-").removesuffix(".toml")
        other = words[3] if words[1:2] == ["peer"] and len(words) > 3 else ""
        known = {"TOKEN": self.tokens.get(f"org-{zone}"), "CODE": self.code, "sha256:...": self.fingerprints.get(other), "account:guest": "account:" + account()}
        here = [(known | ANY_PORT | SMALL).get(word, word) for word in words]
        if words[:2] == ["zbs-registry", "run"]:
            here.append("--allow-private-addresses")
        for word in here:
            assert word and not MADE_UP.search(word.split("+")[0]), f"nothing printed so far tells what to write here: {words}"
        return here

    def do(self, words):
        """One command of the page; its output. Fails where the command does."""
        assert words[0] in PROGRAMS, f"no program of this project: {words}"
        command = self.localized(words)
        if words[0] != "zbs" and words[1:2] == ["run"]:
            return self.start(command)
        if words[1:3] in (["peer", "request"], ["peer", "accept"]):
            return self.remember(words, self.repeat(command))
        if words[1:3] == ["peer", "list"]:
            return until(lambda: self.accepting(self.run(command)), DEADLINE_S, f"{words} does not name the organisation that has accepted")
        return self.remember(words, self.run(command))

    @staticmethod
    def accepting(output):
        """`output` of 'peer list' once somebody takes our users."""
        return output if "accepted" in output.partition("who takes")[2] else ""

    def attempt(self, command):
        return subprocess.run([self.bin / command[0], *command[1:]], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=60)

    def run(self, command):
        done = self.attempt(command)
        assert done.returncode == 0, f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def repeat(self, command):
        """For what zones have to hear from each other first; 2 is wrong usage."""
        deadline = time.monotonic() + DEADLINE_S
        while self.attempt(command).returncode not in (0, 2) and time.monotonic() < deadline:
            select.select([], [], [], 0.2)
        return self.run(command)

    def remember(self, words, output):
        """What later commands need of what this one printed."""
        option = dict(zip(words, words[1:]))
        if words[:2] == ["zbs-registry", "token"]:
            self.tokens[option["--for"]] = re.search(r"zbs-enrol-1\+\S+", output).group()
        if words[:2] == ["zbs-zone", "init"]:
            organisation = re.search(r"trust bundle of (\S+):", output).group(1)
            self.fingerprints[organisation] = re.search(r"^\s*(sha256:[0-9a-f]{64})$", output, re.MULTILINE).group(1)
        if words[:3] == ["zbs-zone", "user", "add"]:
            self.code = re.search(r"^zbs login --code (\S+)$", output, re.MULTILINE).group(1)
        return output

    def start(self, command):
        log = self.folder / f"service-{len(self.services)}.log"
        with open(log, "wb") as errors:
            process = subprocess.Popen([self.bin / command[0], *command[1:]], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=errors)
        ready, _, _ = select.select([process.stdout], [], [], DEADLINE_S)
        line = process.stdout.readline().decode() if ready else ""
        if "listening on https://" not in line:
            process.kill()
            process.communicate()
            raise AssertionError(f"{command} did not start: {line}{log.read_text()[-3000:]}")
        self.services.append((command, process, log))
        return line

    def stop(self):
        faults = []
        for command, process, log in reversed(self.services):
            process.terminate()
            try:
                code = process.wait(DEADLINE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                code = process.wait()
            process.stdout.close()
            if code != 0:
                faults.append(f"{command} ended with {code}: {log.read_text()[-3000:]}")
        assert not faults, faults
