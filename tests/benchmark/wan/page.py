"""The page that run_times.py writes, from its JSON: page.py docs/wan_run_times.json docs/wan_run_times.md writes it again without measuring."""
import json
import os
import statistics
import sys

NEAR = 0.1  # ratios nearer to 1 than this are called equal


def shown(seconds):
    """Median, then smallest to largest."""
    if not seconds:
        return "none ended"
    return f"{statistics.median(seconds):.3g} ({min(seconds):.3g}-{max(seconds):.3g})"


def ratio(row, other):
    if not row["seconds"] or not other["seconds"] or not statistics.median(other["seconds"]):
        return "-"
    return f"{statistics.median(row['seconds']) / statistics.median(other['seconds']):.2f}"


def pattern(sites):
    """Which ranks are together: sites are named in the order in which they come."""
    names = {}
    return tuple(names.setdefault(site, len(names)) for site in sites)


def verdict(program):
    """What the slowest network shows, with the reason as far as the model tells it."""
    last = program["delays"][-1]
    rows = last["placements"]
    if not all(row["seconds"] and min(row["seconds"]) > 0 for row in rows.values()):
        return "Some placements have no time; nothing is concluded."
    median = {key: statistics.median(row["seconds"]) for key, row in rows.items()}
    out = []
    for key, name in (("hier", "HIER"), ("multilevel", "Our mapper")):
        row = rows[key]
        words = []
        for other, title in (("round_robin", "round robin"), ("block", "MPICH's default")):
            factor = median[key] / median[other]
            fewer = row["model_messages"] / max(1, rows[other]["model_messages"])
            if factor < 1 - NEAR:
                words.append(f"takes {factor:.2f} of the time of {title} ({fewer:.2f} of its messages between sites)")
            elif factor > 1 + NEAR:
                words.append(f"takes {factor:.2f} times as long as {title}, with {fewer:.2f} of its messages between sites")
            elif row["model_messages"] >= (1 - NEAR) * rows[other]["model_messages"]:
                words.append(f"is as fast as {title}, which has no more messages between sites")
            else:
                words.append(f"is as fast as {title} although it has {fewer:.2f} of its messages between sites: what is left is what the time is made of")
        out.append(f"{name} " + "; it ".join(words) + ".")
    return f"At {last['delay_ms']:g} ms: " + " ".join(out)


def write_page(report, path):
    titles = {key: placement["title"] for key, placement in report["placements"].items()}
    lines = ["# Run times over an emulated wide area network", "",
             "Written by `" + report["command"] + f"` ({report['day']}, commit {report['commit']}, {report['minutes']:g} min); do not edit. Every single time is in "
             f"`{os.path.basename(os.path.splitext(path)[0])}.json`.", "",
             f"{report['sites']} sites of {report['processors']} processors, {report['rate_Bps'] * 8 / 1e6:g} Mbit/s each way between each pair, the same delay between all. Delays are one way. Sites are network namespaces of one "
             f"machine: {report['cores']} cores of {report['processor']}, Linux {report['kernel']}; load at begin and end {report['load'][0]:g} and {report['load'][1]:g}. " + ", ".join(report["versions"]) + ".", "",
             f"Seconds: median of {report['rounds']} runs (smallest-largest), by the program's own clock (MPI_Wtime): launch and MPI_Init are not in them; xdlu prints hundredths. x: ratio of medians to round robin. Placements take turns, "
             "so that what else the machine does hits all alike.", "",
             "| placement | made by |", "|---|---|"]
    for placement in report["placements"].values():
        lines.append(f"| {placement['title']} | `{placement['command']}` |")
    lines += ["", "MODEL is the profile of one run with MPICH's default placement and `libzbs-profile.so`; SITES says processors, delay and rate. Each may use all "
              f"{report['sites'] * report['processors']} processors, one rank each: how many ranks a site gets is the placement's choice, as with real zones. MPICH's default fills host after host in the order of the host file.", ""]
    for program in report["programs"]:
        lines += [f"## {program['name']} ({program['ranks']} ranks)", "", program["about"] + f" All ranks at one site, without any network between: {shown(program['one_site'])} s.", "",
                  "| delay, ms | " + " | ".join(titles[key] + (", s" if key == "round_robin" else ", s | x") for key in titles) + " |",
                  "|---|" + "".join("---|" if key == "round_robin" else "---|---|" for key in titles)]
        for step in program["delays"]:
            rows = step["placements"]
            cells = [shown(row["seconds"]) + ("" if key == "round_robin" else " | " + ratio(row, rows["round_robin"])) for key, row in rows.items()]
            lines.append(f"| {step['delay_ms']:g} | " + " | ".join(cells) + " |")
        lines += ["", f"Sites of ranks 0, 1, 2, ... at {program['delays'][-1]['delay_ms']:g} ms; messages and bytes between sites by the model (of {program['messages']:,} and {program['bytes']:,}); bytes on the lines (TCP, headers, launch):", "",
                  "| placement | sites | messages | bytes | MB on the lines |", "|---|---|---|---|---|"]
        for key, row in program["delays"][-1]["placements"].items():
            carried = f"{statistics.median(row['line_bytes']) / 1e6:.2f}" if row["line_bytes"] else "-"
            lines.append(f"| {titles[key]} | `{row['sites']}` | {row['model_messages']:,} | {row['model_bytes']:,} | {carried} |")
        changed = [f"{titles[key]} at {step['delay_ms']:g} ms `{row['sites']}`" for step in program["delays"] for key, row in step["placements"].items()
                   if pattern(row["sites"]) != pattern(program["delays"][-1]["placements"][key]["sites"])]
        if changed:
            lines += ["", "Other ranks were together at other delays: " + ", ".join(changed) + "."]
        lines += ["", verdict(program)]
        if program["failures"]:
            lines += ["", f"{len(program['failures'])} runs gave no time: " + "; ".join(failure.replace("\n", " ") for failure in program["failures"])]
        lines.append("")
    lines += ["## What this can show and what not", "",
              f"- {report['cores']} cores compute for all ranks. Programs are small, so that the network dominates: see the times at one site. Computing does not get slower or faster by placement here, as it would on real processors.",
              "- Ranks sleep while they wait (`tests/support/patient_rank.c`), else polling ranks would take the cores from each other and hide the network. Ranks of one site talk by TCP over its loopback device, not "
              "through shared memory; for MPICH each rank is a machine of its own.",
              "- MPI_Finalize does not wait for the end of connections, where MPICH 4.0.2 over UCX 1.13 hangs now and then; it is not in the times. No run was killed for it.",
              "- Lines lose packets only where their queue (50 ms of the rate) is full. There is no other traffic.",
              "- A placement that comes out equal to round robin may have been found by chance by round robin: where teams or columns of the grid are dealt like sites, it keeps them together.", ""]
    with open(path, "w") as f:
        f.write("\n".join(lines))


if __name__ == "__main__":
    with open(sys.argv[1]) as source:
        write_page(json.load(source), sys.argv[2])
