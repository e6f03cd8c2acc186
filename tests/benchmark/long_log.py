"""A log of many jobs in the Standard Workload Format on standard output: 1,024 processors at a load of 0.7.

usage: long_log.py [JOBS]
"""
import random
import sys

SIZES = (1, 1, 1, 2, 4, 8, 16, 32, 64, 128)


def main(jobs=1_000_000):
    draw = random.Random(1).random
    lines = ["; Version: 2.2\n; MaxProcs: 1024\n"]
    submit = 0
    for number in range(1, jobs + 1):
        submit += int(draw() * 130)
        runtime = 1 + int(draw() ** 3 * 7200)
        size = SIZES[int(draw() * 10)]
        estimate = (int(runtime * (1 + 2 * draw())) // 300 + 1) * 300
        lines.append(f"{number} {submit} -1 {runtime} {size} -1 -1 {size} {estimate} -1 1 {number % 97} {number % 7} -1 {number % 3} -1 -1 -1\n")
        if len(lines) >= 100_000:
            sys.stdout.write("".join(lines))
            lines.clear()
    sys.stdout.write("".join(lines))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
