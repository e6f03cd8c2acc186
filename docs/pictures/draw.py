#!/usr/bin/env python3
"""Draws the pictures of README.md and docs/architecture.md: docs/pictures/draw.py [FOLDER]

Writes parts.svg, application.svg and trust.svg; a test compares them with the files in the tree.
"""
import pathlib
import sys
from xml.sax.saxutils import escape

BOX = "#f4f7fb"
HOME = "#dcebff"
LINE = "#39527a"


class Picture:
    def __init__(self, width, height, title):
        self.rows = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}" font-family="sans-serif" font-size="13">',
                     f'<rect width="{width}" height="{height}" fill="white"/>',
                     f'<defs><marker id="end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path d="M0 0 8 4 0 8z" fill="{LINE}"/></marker></defs>']

    def text(self, x, y, words, anchor="middle", size=13, weight="normal"):
        self.rows.append(f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}" font-weight="{weight}" fill="#1c2a3f">{escape(words)}</text>')

    def box(self, x, y, width, height, name, *lines, fill=BOX):
        self.rows.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{fill}" stroke="{LINE}"/>')
        self.text(x + width / 2, y + 19, name, weight="bold")
        for number, line in enumerate(lines):
            self.text(x + width / 2, y + 38 + 16 * number, line, size=12)

    def arrow(self, x1, y1, x2, y2, words="", dashed=False, both=False, above=6):
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        begin = ' marker-start="url(#end)"' if both else ""
        self.rows.append(f'<path d="M{x1} {y1} {x2} {y2}" stroke="{LINE}" stroke-width="1.4" fill="none"{dash}{begin} marker-end="url(#end)"/>')
        if words:
            self.text((x1 + x2) / 2, (y1 + y2) / 2 - above, words, size=12)

    def written(self):
        return "\n".join([*self.rows, "</svg>", ""])


def parts():
    p = Picture(760, 400, "The parts of ZBS: a client, a registry, a home zone and two peer zones")
    p.box(20, 20, 150, 62, "zbs", "client of a user")
    p.box(300, 20, 160, 62, "zbs-registry", "lists the zones")
    p.box(240, 130, 280, 84, "zbs-zone A, the home zone", "profiles, clusters, plan (HIER)", "follows the application", fill=HOME)
    p.box(20, 280, 210, 100, "machines of zone A", "zbs-step: MPI launcher", "zbs-step: proxy and ranks")
    p.box(275, 280, 210, 100, "zbs-zone B", "own policy, accounts, queue", "zbs-step: proxy and ranks")
    p.box(530, 280, 210, 100, "zbs-zone C", "own policy, accounts, queue", "zbs-step: proxy and ranks")
    p.arrow(120, 82, 250, 140)
    p.text(20, 124, "submit, logs, cancel", "start", 12)
    p.arrow(380, 130, 380, 82, dashed=True)
    p.text(392, 110, "publish, list", "start", 12)
    p.arrow(290, 214, 150, 280)
    p.arrow(380, 214, 380, 280)
    p.arrow(470, 214, 610, 280)
    p.text(392, 268, "hold, commit, launch", "start", 12)
    p.arrow(230, 350, 275, 350, both=True)
    p.arrow(485, 350, 530, 350, both=True)
    p.text(380, 396, "the ranks of all zones are one MPI_COMM_WORLD", size=12)
    return p


def application():
    p = Picture(760, 330, "The life of an application: from accepted to its end")
    states = [("accepted", "stored at home"), ("planned", "clusters to zones"), ("held", "all zones hold"), ("committed", "no hold expires"),
              ("launching", "files, proxies"), ("running", "one MPI job")]
    for number, (name, line) in enumerate(states):
        x = 12 + 125 * number
        p.box(x, 40, 110, 60, name, line, fill=HOME if number == 0 else BOX)
        if number:
            p.arrow(x - 15, 70, x, 70)
    p.text(380, 24, "the states of an application at its home zone", weight="bold")
    p.box(12, 160, 110, 44, "waits")
    p.arrow(317, 100, 110, 160, dashed=True)
    p.arrow(67, 160, 67, 100)
    p.text(132, 188, "a zone refuses: home releases all parts and plans again", "start", 12)
    p.arrow(67, 204, 67, 250, dashed=True)
    p.box(12, 250, 165, 60, "rejected", "no zones could run it")
    for number, (name, line) in enumerate((("completed", "profile is stored"), ("failed", "rank, zone, reason"), ("cancelled", "SIGTERM, then SIGKILL"))):
        x = 225 + 179 * number
        p.box(x, 250, 165, 60, name, line)
        p.arrow(692, 100, x + 100, 250)
    return p


def trust():
    p = Picture(760, 330, "Who trusts whom: each organisation has a CA of its own; peerings have a direction")
    for x, org, zone in ((20, "organisation A", "zone A"), (500, "organisation B", "zone B")):
        p.rows.append(f'<rect x="{x}" y="20" width="240" height="290" rx="8" fill="none" stroke="{LINE}" stroke-dasharray="2 3"/>')
        p.text(x + 120, 40, org, weight="bold")
        p.box(x + 40, 55, 160, 44, "CA", "names of its own only")
        p.box(x + 40, 140, 160, 60, zone, "policy, account map", fill=HOME)
        p.arrow(x + 120, 99, x + 120, 140, "")
    p.box(60, 245, 160, 50, "user ana", "key stays on her machine")
    p.box(540, 245, 160, 50, "jobs", "as an account of zone B")
    p.arrow(140, 245, 140, 200)
    p.text(150, 228, "certificate", "start", 12)
    p.arrow(220, 160, 540, 160, "delegation for one application")
    p.arrow(540, 185, 220, 185, "peering: B accepts users of A", dashed=True, above=-16)
    p.arrow(620, 200, 620, 245)
    p.box(310, 40, 140, 60, "zbs-registry", "signed entries")
    p.arrow(220, 145, 320, 100, dashed=True)
    p.arrow(540, 145, 440, 100, dashed=True)
    return p


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    for name, picture in (("parts", parts()), ("application", application()), ("trust", trust())):
        (folder / f"{name}.svg").write_text(picture.written())


if __name__ == "__main__":
    main()
