"""The examples of `--help`, as the man pages that the programs write repeat them."""
import pathlib
import re
import subprocess

PROGRAMS = ("zbs", "zbs-zone", "zbs-registry", "zbs-node")


def examples_of(page):
    """Of one man page: the text of the blocks under EXAMPLES."""
    section = re.search(r"^\.SH EXAMPLES\n(.*?)(?=^\.SH|\Z)", page, re.MULTILINE | re.DOTALL)
    blocks = re.findall(r"^\.nf\n(.*?)\n\.fi$", section.group(1), re.MULTILINE | re.DOTALL) if section else []
    return [re.sub(r"\\(.)", lambda mark: "\\" if mark.group(1) == "e" else mark.group(1).replace("&", ""), block) for block in blocks]


def all_examples(programs, folder):
    """Of all commands of all programs, whose pages are written into `folder`."""
    found = set()
    for program in PROGRAMS:
        subprocess.run([pathlib.Path(programs) / program, "pages", folder / program], check=True, timeout=60, stdout=subprocess.DEVNULL)
        for page in (folder / program / "man").iterdir():
            found.update(examples_of(page.read_text()))
    return found
