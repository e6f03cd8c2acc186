#include "tests/support/generated_graphs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/base/rng.hpp"
#include "tests/support/made_graph.hpp"

namespace zbs::test {
namespace {

using Pair = std::pair<TaskIndex, TaskIndex>;

/// Pairs drawn several times weigh as often; loops are dropped.
std::vector<TaskEdge> counted(std::vector<Pair> pairs) {
    std::erase_if(pairs, [](const Pair& pair) { return pair.first == pair.second; });
    for (Pair& pair : pairs) {
        if (pair.first > pair.second) std::swap(pair.first, pair.second);
    }
    std::ranges::sort(pairs);
    std::vector<TaskEdge> edges;
    for (const auto& [u, v] : pairs) {
        if (!edges.empty() && edges.back().u == u && edges.back().v == v) {
            edges.back().bytes += 1;
        } else {
            edges.push_back({u, v, 1, 0});
        }
    }
    return edges;
}

struct Point {
    double x, y;
};

}  // namespace

TaskGraph stencil(int x, int y, int z, bool corners) {
    const auto at = [&](int i, int j, int k) { return static_cast<TaskIndex>((i * y + j) * z + k); };
    std::vector<TaskEdge> edges;
    const std::array<double, 4> weight = {0, corners ? 64.0 : 1.0, 8, 1};
    for (int i = 0; i < x; ++i) {
        for (int j = 0; j < y; ++j) {
            for (int k = 0; k < z; ++k) {
                const TaskIndex here = at(i, j, k);
                for (int code = 14; code < 27; ++code) {  // the half of the neighbours that come later
                    const int di = code / 9 - 1, dj = code / 3 % 3 - 1, dk = code % 3 - 1;
                    const int apart = std::abs(di) + std::abs(dj) + std::abs(dk);
                    if (!corners && apart > 1) continue;
                    if (i + di < 0 || i + di >= x || j + dj < 0 || j + dj >= y || k + dk < 0 || k + dk >= z) continue;
                    edges.push_back({here, at(i + di, j + dj, k + dk), weight[static_cast<std::size_t>(apart)], 0});
                }
            }
        }
    }
    return made(std::vector<double>(static_cast<std::size_t>(x) * static_cast<std::size_t>(y * z), 1),
                std::move(edges));
}

TaskGraph mesh_with_holes(int tasks, std::uint64_t seed) {
    Rng rng(seed);
    const auto side = static_cast<int>(std::ceil(std::sqrt(tasks * 1.15)));
    struct Disc {
        Point centre;
        double radius;
    };
    const auto disc = [&](double radius) {
        return Disc{{rng.uniform(), rng.uniform()}, radius * (0.5 + rng.uniform())};
    };
    std::vector<Disc> holes, busy;
    for (int i = 0; i < 6; ++i) holes.push_back(disc(0.07));
    for (int i = 0; i < 3; ++i) busy.push_back(disc(0.12));
    const auto inside = [&](const std::vector<Disc>& discs, int row, int column) {
        return std::ranges::any_of(discs, [&](const Disc& d) {
            return std::hypot(column / double(side) - d.centre.x, row / double(side) - d.centre.y) < d.radius;
        });
    };
    std::vector<TaskIndex> number(static_cast<std::size_t>(side * side), -1);
    std::vector<double> compute;
    for (int row = 0; row < side; ++row) {
        for (int column = 0; column < side; ++column) {
            if (inside(holes, row, column)) continue;
            number[static_cast<std::size_t>(row * side + column)] = static_cast<TaskIndex>(compute.size());
            compute.push_back(inside(busy, row, column) ? 4 : 1);
        }
    }
    std::vector<Pair> pairs;
    const auto tie = [&](int a, int b) {
        const TaskIndex u = number[static_cast<std::size_t>(a)], v = number[static_cast<std::size_t>(b)];
        if (u >= 0 && v >= 0) pairs.emplace_back(u, v);
    };
    for (int row = 0; row < side; ++row) {
        for (int column = 0; column < side; ++column) {
            const int here = row * side + column;
            if (column + 1 < side) tie(here, here + 1);
            if (row + 1 < side) tie(here, here + side);
            if (column + 1 == side || row + 1 == side) continue;
            if (rng.below(2) == 0) {
                tie(here, here + side + 1);
            } else {
                tie(here + 1, here + side);
            }
        }
    }
    return made(std::move(compute), counted(std::move(pairs)));
}

TaskGraph random_geometric(int tasks, double degree, std::uint64_t seed) {
    Rng rng(seed);
    const double radius = std::sqrt(degree / (3.14159265358979 * tasks));
    const int cells = std::max(1, static_cast<int>(1 / radius));
    std::vector<Point> points(static_cast<std::size_t>(tasks));
    for (Point& point : points) {
        point.x = rng.uniform();
        point.y = rng.uniform();
    }
    const auto cell = [&](double c) { return std::min(cells - 1, static_cast<int>(c * cells)); };
    std::vector<std::vector<TaskIndex>> in_cell(static_cast<std::size_t>(cells) * static_cast<std::size_t>(cells));
    std::vector<Pair> pairs;
    for (TaskIndex t = 0; t < tasks; ++t) {
        const Point& p = points[static_cast<std::size_t>(t)];
        for (int row = std::max(0, cell(p.y) - 1); row <= std::min(cells - 1, cell(p.y) + 1); ++row) {
            for (int column = std::max(0, cell(p.x) - 1); column <= std::min(cells - 1, cell(p.x) + 1); ++column) {
                for (const TaskIndex other : in_cell[static_cast<std::size_t>(row * cells + column)]) {
                    const Point& q = points[static_cast<std::size_t>(other)];
                    if (std::hypot(p.x - q.x, p.y - q.y) < radius) pairs.emplace_back(other, t);
                }
            }
        }
        in_cell[static_cast<std::size_t>(cell(p.y) * cells + cell(p.x))].push_back(t);
    }
    return made(std::vector<double>(points.size(), 1), counted(std::move(pairs)));
}

TaskGraph rmat(int scale, int draws, std::uint64_t seed) {
    Rng rng(seed);
    std::vector<Pair> pairs;
    std::vector<TaskIndex> number(std::size_t{1} << scale, -1);
    for (int i = 0; i < draws; ++i) {
        TaskIndex u = 0, v = 0;
        for (int bit = 0; bit < scale; ++bit) {
            const double where = rng.uniform();
            u = 2 * u + (where >= 0.76 ? 1 : 0);
            v = 2 * v + (where >= 0.95 || (where >= 0.57 && where < 0.76) ? 1 : 0);
        }
        if (u != v) pairs.emplace_back(u, v);
    }
    TaskIndex tasks = 0;
    for (Pair& pair : pairs) {
        for (TaskIndex* task : {&pair.first, &pair.second}) {
            TaskIndex& name = number[static_cast<std::size_t>(*task)];
            if (name < 0) name = tasks++;
            *task = name;
        }
    }
    return made(std::vector<double>(static_cast<std::size_t>(tasks), 1), counted(std::move(pairs)));
}

TaskGraph transport(int teams, int team_size, int cycles, std::uint64_t seed) {
    Rng rng(seed);
    constexpr double kBytes = 1000, kInner = 10;
    std::vector<double> compute = {1e-3};
    std::vector<TaskEdge> edges;
    for (int member = 0; member < team_size; ++member) {
        for (int team = 0; team < teams; ++team) {
            const TaskIndex here = 1 + member * teams + team;
            compute.push_back(1e-3 * (1 + 0.2 * rng.uniform()));
            if (member == 0) edges.push_back({0, here, kBytes * cycles, static_cast<double>(cycles)});
            for (int other = 0; other < member; ++other)
                edges.push_back({1 + other * teams + team, here, 2 * kBytes * kInner * cycles, 2 * kInner * cycles});
        }
    }
    return made(std::move(compute), std::move(edges));
}

ResourceGraph uneven_zones(const UnevenOptions& options, std::uint64_t seed) {
    Rng rng(seed);
    const auto drawn = [&](int most) { return static_cast<int>(1 + rng.below(static_cast<std::uint64_t>(most))); };
    std::vector<Zone> zones;
    std::vector<ResourceGraph::ZoneLink> links;
    for (int z = 0; z < options.zones; ++z) {
        Zone zone{.name = "z" + std::to_string(z), .machines = {}};
        zone.within_machine = {1e-6 * (1 + rng.uniform()), 5e9};
        zone.within_zone = {2e-5 * (1 + 4 * rng.uniform()), 1e9 * (0.5 + rng.uniform())};
        const int machines = drawn(options.most_machines);
        const double speed = 1 + (options.fastest - 1) * rng.uniform();
        for (int m = 0; m < machines; ++m) {
            const double own = rng.below(4) == 0 ? 1 + (options.fastest - 1) * rng.uniform() : speed;
            zone.machines.push_back({"m" + std::to_string(m), drawn(options.most_processors), own});
        }
        zones.push_back(std::move(zone));
        for (int other = 0; other < z; ++other) {
            const double slower = 1 + (options.slowest_link - 1) * rng.uniform();
            links.push_back({other, z, {2e-4 * slower, 2e8 / slower}});
        }
    }
    auto graph = ResourceGraph::make(std::move(zones), std::move(links));
    ZBS_EXPECTS(graph.has_value());
    return *std::move(graph);
}

}  // namespace zbs::test
