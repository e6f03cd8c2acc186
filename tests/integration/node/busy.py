"""Uses a processor for SECONDS and writes down when it really had one: a line "FROM TO" (monotonic nanoseconds) for every time
between two breaks of more than a millisecond.

usage: busy.py SECONDS FILE
"""
import sys
import time

end = time.monotonic_ns() + int(float(sys.argv[1]) * 1e9)
times = []
begin = last = time.monotonic_ns()
while last < end:
    now = time.monotonic_ns()
    if now - last > 1_000_000:
        times.append((begin, last))
        begin = now
    last = now
times.append((begin, last))
with open(sys.argv[2], "w") as out:
    out.writelines(f"{a} {b}\n" for a, b in times)
