"""The messages of MPI collectives, by simulating what every rank holds after every step.

Independent of the library under test: that computes what one rank sends; this moves blocks between all ranks and asserts
that everyone ends with what the collective promises. Results are {(u, v): [bytes, messages]} with u < v.
"""
import collections


class Traffic:
    def __init__(self, ranks):
        self.ranks = ranks  # world rank of each rank of the communicator
        self.pairs = collections.defaultdict(lambda: [0, 0])

    def send(self, source, target, size):
        u, v = sorted((self.ranks[source], self.ranks[target]))
        self.pairs[(u, v)][0] += size
        self.pairs[(u, v)][1] += 1

    def result(self):
        return {pair: tuple(sums) for pair, sums in self.pairs.items()}


def steps(p):
    step = 1
    while step < p:
        yield step
        step *= 2


def lowest_bit(v):
    return next(bit for bit in steps(v + 1) if v & bit)


def barrier(t, p):
    knows = [{r} for r in range(p)]
    for step in steps(p):
        before = [set(k) for k in knows]
        for r in range(p):
            t.send(r, (r + step) % p, 0)
            knows[(r + step) % p] |= before[r]
    assert all(len(k) == p for k in knows)


def bcast_tree(t, p, root, size):
    for v in range(1, p):  # each rank gets it from the one whose number lacks its lowest bit
        t.send(((v - lowest_bit(v)) + root) % p, (v + root) % p, size)


def bcast_scatter(t, p, root, size, ring):
    block = -(-size // p)
    sizes = [max(0, min(block, size - v * block)) for v in range(p)]
    place = [(v + root) % p for v in range(p)]
    for v in range(1, p):
        part = sum(sizes[v:v + lowest_bit(v)])
        if part:
            t.send(place[v - lowest_bit(v)], place[v], part)
    (allgather_ring if ring else allgather_doubling)(t, p, lambda v: sizes[v], place)


def allgather_ring(t, p, size, place=None):
    place = place or list(range(p))
    passing, holds = list(range(p)), [{r} for r in range(p)]
    for _ in range(p - 1):
        for v in range(p):
            t.send(place[v], place[(v + 1) % p], size(passing[v]))
        passing = [passing[(v - 1) % p] for v in range(p)]
        for v in range(p):
            holds[v].add(passing[v])
    assert all(len(h) == p for h in holds)


def allgather_doubling(t, p, size, place=None):
    place = place or list(range(p))
    holds = [{r} for r in range(p)]
    for step in steps(p):
        before = [set(h) for h in holds]
        for v in range(p):
            t.send(place[v], place[v ^ step], sum(size(b) for b in before[v]))
            holds[v ^ step] |= before[v]
    assert all(len(h) == p for h in holds)


def allgather_bruck(t, p, size):
    holds = [[r] for r in range(p)]
    while len(holds[0]) < p:
        length = len(holds[0])
        before = [list(h) for h in holds]
        for r in range(p):
            part = before[r][:p - length]
            t.send(r, (r - length) % p, sum(size(b) for b in part))
            holds[(r - length) % p] += part
    assert all(sorted(h) == list(range(p)) for h in holds)


def gather(t, p, root, size):
    for v in range(1, p):
        subtree = range(v, min(p, v + lowest_bit(v)))
        t.send((v + root) % p, (v - lowest_bit(v) + root) % p, size * len(subtree))


scatter = gather  # the same tree the other way round; edges have no direction


def alltoall_direct(t, p, size):
    for source in range(p):
        for target in range(p):
            if source != target and size(source, target):
                t.send(source, target, size(source, target))


def alltoall_bruck(t, p, size):
    at = {(s, d): s for s in range(p) for d in range(p)}
    for step in steps(p):
        moved = collections.Counter()
        for (s, d), where in at.items():
            if (d - s) % p & step:
                moved[where] += 1
                at[(s, d)] = (where + step) % p
        for r in range(p):
            t.send(r, (r + step) % p, moved[r] * size)
    assert all(where == d for (_, d), where in at.items())


class Reduction:
    """Who has added what into which of `blocks` blocks."""

    def __init__(self, t, p, sizes):
        self.t, self.p, self.sizes = t, p, sizes
        self.parts = [[{r} for _ in sizes] for r in range(p)]

    def move(self, source, target, blocks, replace=False):
        """Sends blocks; the target adds them to its own, or replaces its own."""
        self.t.send(source, target, sum(self.sizes[b] for b in blocks))
        for b in blocks:
            old = set() if replace else self.parts[target][b]
            self.parts[target][b] = old | self.parts[source][b]

    def swap(self, a, to_a, b, to_b, replace=False):
        before_a, before_b = [list(map(set, self.parts[r])) for r in (a, b)]
        for source, target, blocks, have in ((a, b, to_b, before_a), (b, a, to_a, before_b)):
            self.t.send(source, target, sum(self.sizes[i] for i in blocks))
            for i in blocks:
                self.parts[target][i] = (set() if replace else self.parts[target][i]) | have[i]

    def whole(self, r, blocks):
        return all(len(self.parts[r][b]) == self.p for b in blocks)


def power_below(p):
    return max(s for s in list(steps(p + 1)))


def allreduce(t, p, count, element, long):
    power = power_below(p)
    sizes = [count * element]
    if long:
        sizes = [count // power * element] * (power - 1)
        sizes.append(count * element - sum(sizes))
    everything = range(len(sizes))
    red = Reduction(t, p, sizes)
    rem = p - power
    for r in range(0, 2 * rem, 2):
        red.move(r, r + 1, everything)
    inner = [2 * i + 1 for i in range(rem)] + list(range(2 * rem, p))
    if not long:
        for step in steps(power):
            for i in range(power):
                if i < i ^ step:
                    red.swap(inner[i], everything, inner[i ^ step], everything)
    else:
        held, history = [list(everything) for _ in inner], []
        for step in steps(power):
            history.append((step, [list(h) for h in held]))
            for i in range(power):
                if i < i ^ step:
                    half = len(held[i]) // 2
                    low, high = held[i][:half], held[i][half:]
                    red.swap(inner[i], low, inner[i ^ step], high)
                    held[i], held[i ^ step] = low, high
        for step, before in reversed(history):
            for i in range(power):
                if i < i ^ step:
                    red.swap(inner[i], held[i ^ step], inner[i ^ step], held[i], replace=True)
            held = before
    for r in range(0, 2 * rem, 2):
        red.move(r + 1, r, everything, replace=True)
    assert all(red.whole(r, everything) for r in range(p))


def reduce_tree(t, p, root, size):
    for v in range(1, p):
        t.send((v + root) % p, (v - lowest_bit(v) + root) % p, size)


def reduce_long(t, p, root, count, element):
    power = power_below(p)
    sizes = [count // power * element] * (power - 1)
    sizes.append(count * element - sum(sizes))
    red = Reduction(t, p, sizes)
    rem = p - power
    for r in range(1, 2 * rem, 2):
        red.move(r, r - 1, range(power))
    inner = [2 * i for i in range(rem)] + list(range(2 * rem, p))
    held = [list(range(power)) for _ in inner]
    for step in steps(power):
        for i in range(power):
            if i < i ^ step:
                half = len(held[i]) // 2
                low, high = held[i][:half], held[i][half:]
                red.swap(inner[i], low, inner[i ^ step], high)
                held[i], held[i ^ step] = low, high
    if root not in inner:
        red.move(inner[0], root, held[0], replace=True)
        inner[0] = root
    top = inner.index(root)
    for step in reversed(list(steps(power))):  # those that differ from the root in this bit hand over and are done
        for i in range(power):
            # still in the game: agrees with the root in all higher bits
            if i // (2 * step) == top // (2 * step) and i & step != top & step:
                red.move(inner[i], inner[i ^ step], held[i], replace=True)
                held[i ^ step] = sorted(held[i ^ step] + held[i])
    assert red.whole(root, range(power))


def reduce_scatter(t, p, sizes):
    power = power_below(p)
    rem = p - power
    red = Reduction(t, p, sizes)
    for r in range(0, 2 * rem, 2):
        red.move(r, r + 1, range(p))
    inner = [2 * i + 1 for i in range(rem)] + list(range(2 * rem, p))
    wants = [[2 * i, 2 * i + 1] for i in range(rem)] + [[r] for r in range(2 * rem, p)]
    held = [list(range(power)) for _ in inner]
    for step in reversed(list(steps(power))):
        for i in range(power):
            if i < i ^ step:
                half = len(held[i]) // 2
                low, high = held[i][:half], held[i][half:]
                red.swap(inner[i], sum((wants[k] for k in low), []), inner[i ^ step], sum((wants[k] for k in high), []))
                held[i], held[i ^ step] = low, high
    for r in range(0, 2 * rem, 2):
        red.move(r + 1, r, [r], replace=True)
    assert all(red.whole(r, [r]) for r in range(p))


def scan(t, p, size):
    for step in steps(p):
        for r in range(p):
            if r ^ step < p:
                t.send(r, r ^ step, size)
