"""What a page of documentation tells its reader to write into files and to run, in order.

A fence opens with what the block is: `console` and further words (below), or a language, and after it the name of the file that the block is to be written into.
"""
import dataclasses
import re

FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
PROGRAMS = re.compile(r"^\s*(?:\$ )?(?:zbs|zbs-zone|zbs-registry|zbs-node|mpicc\S*|mpiexec\S*|systemctl|apt|docker|python3|ctest|(?:build|scripts|docker)/\S+)\s", re.MULTILINE)
INDENTED = re.compile(rf"(?:^|\n)\n(?: {{4}}(?=\S)[^\n]*\n)+")
# Keeps running; until it is so; the like is run elsewhere; run from this page by another test; not at all, and why.
WORDS = ("stays", "again", "no-test", "run-by", "untested")
FEWEST_WORDS = 3  # of a reason


@dataclasses.dataclass
class File:
    line: int
    name: str
    text: str


@dataclasses.dataclass
class Command:
    line: int
    text: str
    expected: list  # lines
    stays: bool = False
    again: bool = False


@dataclasses.dataclass
class Elsewhere:
    """Commands that cannot run in a test of pages; `place` is a file of this project that runs them."""
    line: int
    place: str
    commands: list
    from_here: bool = False  # `place` reads the page itself


@dataclasses.dataclass
class Untested:
    line: int
    reason: str


def commands_of(line, text, **options):
    """Lines with "$ " begin a command, "> " goes on with it; all others are what it prints."""
    found = []
    for number, words in enumerate(text.splitlines(), line + 1):
        if words.startswith("$ "):
            found.append(Command(number, words[2:], [], **options))
        else:
            assert found, f"line {number}: output before any command"
            if words.startswith("> ") and not found[-1].expected:
                found[-1].text += "\n" + words[2:]
            else:
                found[-1].expected.append(words)
    assert found, f"line {line}: a console without a command"
    return found


def steps(text):
    """Everything that is to be done, in the order of the page."""
    found = []
    outside = FENCE.sub(lambda fence: "\n" * fence.group().count("\n"), text)  # of the same lines
    for block in INDENTED.finditer(outside):
        line = outside.count("\n", 0, block.start() + block.group().index("    ")) + 1
        assert not PROGRAMS.search(block.group()), f"line {line}: commands that nobody runs: put them into a block `console`"
    for fence in FENCE.finditer(text):
        line = text.count("\n", 0, fence.start()) + 1
        kind, *words = fence["info"].split() or [""]
        if kind != "console":
            assert kind or not PROGRAMS.search(fence["text"]), f"line {line}: commands that nobody runs: call the block `console`"
            assert words or kind not in ("sh", "bash", "shell"), f"line {line}: commands that nobody runs: call the block `console`"
            if words:
                found.append(File(line, words[0], fence["text"]))
            continue
        assert not words or words[0] in WORDS, f"line {line}: no kind of console: {words}"
        if words[:1] == ["untested"]:
            assert len(words) > FEWEST_WORDS, f"line {line}: console untested, and the reason"
            commands_of(line, fence["text"])
            found.append(Untested(line, " ".join(words[1:])))
        elif words[:1] in (["no-test"], ["run-by"]):
            assert len(words) == 2, f"line {line}: console {words[0]}, and the file that runs it"
            found.append(Elsewhere(line, words[1], [one.text for one in commands_of(line, fence["text"])], words[0] == "run-by"))
        else:
            found += commands_of(line, fence["text"], **{word: True for word in words})
    return found


def as_told(expected, output):
    """Does `output` read as a page says? `...` within a line stands for anything in it, as a line for any lines."""
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == "..." else ".*?".join(map(squeezed, line.split("..."))) + r"[ \t]*\n" for line in expected)
    return re.fullmatch(pattern, output if output.endswith("\n") else output + "\n") is not None


def squeezed(text):
    """Any number of spaces for any: columns are as wide as their longest word."""
    return r"[ \t]+".join(re.escape(part) for part in re.split(r"[ \t]+", text))
