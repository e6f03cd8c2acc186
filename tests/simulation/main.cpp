// Runs seeds of the simulated world, on all cores, under one storm or under each of a folder. A bad seed is printed
// with what went wrong; `--chronicle` shows it line by line.
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/simulation/world.hpp"

namespace {

using zbs::simulation::Outcome;
using zbs::simulation::run_world;
using zbs::simulation::StormPlan;

struct Options {
    std::uint64_t first = 1;
    std::uint64_t seeds = 1;
    unsigned workers = std::max(1U, std::thread::hardware_concurrency());
    bool chronicle = false;
    std::vector<StormPlan> storms;
};

struct Sum {
    long seeds = 0, bad = 0, applications = 0, completed = 0, failed = 0, cancelled = 0, rejected = 0, crashes = 0,
         partitions = 0, reserved = 0, earlier = 0, slipped = 0, observed = 0, brought = 0;
    void add(const Outcome& outcome) {
        const auto ends = [&](const char* name) {
            const auto at = outcome.ends.find(name);
            return at == outcome.ends.end() ? 0 : at->second;
        };
        ++seeds;
        bad += outcome.violation.has_value();
        applications += outcome.applications;
        completed += ends("completed");
        failed += ends("failed");
        cancelled += ends("cancelled");
        rejected += ends("rejected");
        crashes += outcome.crashes;
        partitions += outcome.partitions;
        reserved += outcome.reserved;
        earlier += outcome.earlier;
        slipped += outcome.slipped;
        brought += outcome.brought;
        observed += static_cast<long>(outcome.observed);
    }
    void add(const Sum& o) {
        seeds += o.seeds, bad += o.bad, applications += o.applications, completed += o.completed, failed += o.failed;
        cancelled += o.cancelled, rejected += o.rejected, crashes += o.crashes, partitions += o.partitions;
        reserved += o.reserved, earlier += o.earlier, slipped += o.slipped, observed += o.observed;
        brought += o.brought;
    }
};

/// Every `workers`-th seed from `worker` on.
Sum work(const Options& options, const StormPlan& storm, unsigned worker) {
    Sum sum;
    for (std::uint64_t seed = options.first + worker; seed < options.first + options.seeds; seed += options.workers) {
        const Outcome outcome = run_world({.seed = seed, .storm = storm, .chronicle = options.chronicle});
        for (const std::string& line : outcome.chronicle) std::puts(line.c_str());
        if (outcome.violation)
            std::printf("storm %s, seed %llu: %s\n", storm.name.c_str(), static_cast<unsigned long long>(seed),
                        outcome.violation->c_str());
        if (options.seeds == 1)
            std::printf(
                "seed %llu: %d zones, %llu messages, %llu events, digest %016llx\n",
                static_cast<unsigned long long>(seed), outcome.zones, static_cast<unsigned long long>(outcome.messages),
                static_cast<unsigned long long>(outcome.events), static_cast<unsigned long long>(outcome.digest));
        std::fflush(stdout);
        sum.add(outcome);
        if (sum.seeds % 25 == 0) std::fprintf(stderr, "worker %u: %ld seeds, %ld bad\n", worker, sum.seeds, sum.bad);
    }
    return sum;
}

/// One process a worker: SQLite's file system is one for a whole process. Null sum where a worker died.
bool work_apart(const Options& options, const StormPlan& storm, Sum& sum) {
    std::vector<std::pair<pid_t, int>> workers;
    for (unsigned worker = 0; worker < options.workers; ++worker) {
        int ends[2];
        if (pipe(ends) != 0) return false;
        const pid_t child = fork();
        if (child < 0) return false;
        if (child == 0) {
            close(ends[0]);
            const Sum own = work(options, storm, worker);
            const bool is_reported = write(ends[1], &own, sizeof own) == static_cast<ssize_t>(sizeof own);
            _exit(is_reported ? 0 : 1);
        }
        close(ends[1]);
        workers.emplace_back(child, ends[0]);
    }
    bool all = true;
    for (const auto& [child, from] : workers) {
        Sum own;
        all = read(from, &own, sizeof own) == static_cast<ssize_t>(sizeof own) && all;
        close(from);
        int status = 0;
        waitpid(child, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            std::printf("a worker died: see above for the seeds that it did not reach\n");
            all = false;
        } else {
            sum.add(own);
        }
    }
    return all;
}

/// All seeds of one storm. False where one was bad, or was not reached.
bool run_storm(Options options, const StormPlan& storm) {
    const auto begin = std::chrono::steady_clock::now();
    Sum sum;
    bool all = true;
    if (options.seeds == 1 || options.workers == 1) {
        options.workers = 1;
        sum = work(options, storm, 0);
    } else {
        all = work_apart(options, storm, sum);
    }
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::printf(
        "storm %s: %ld seeds of %.0f simulated minutes, %ld bad: %ld applications (%ld completed, %ld failed, %ld "
        "cancelled, %ld rejected), %ld starts reserved (%ld moved earlier, %ld slipped), %ld files brought to agents, "
        "%ld answers in order, %ld crashes, %ld partitions; %.0f s with %u workers\n",
        storm.name.c_str(), sum.seeds, zbs::to_seconds(storm.storm + storm.calm) / 60, sum.bad, sum.applications,
        sum.completed, sum.failed, sum.cancelled, sum.rejected, sum.reserved, sum.earlier, sum.slipped, sum.brought,
        sum.observed, sum.crashes, sum.partitions, took, options.workers);
    std::fflush(stdout);
    return all && sum.bad == 0;
}

int usage() {
    std::fprintf(stderr,
                 "usage: simulation [--storm FILE | --storms FOLDER] [--first SEED] [--seeds COUNT] [--workers COUNT] "
                 "[--chronicle]\n");
    return 2;
}

int refuse(const zbs::Error& error) {
    std::fprintf(stderr, "%s\n", text_with_pointer(error).c_str());
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const bool more = i + 1 < argc;
        if (std::strcmp(argv[i], "--first") == 0 && more) {
            options.first = std::strtoull(argv[++i], nullptr, 10);
        } else if (std::strcmp(argv[i], "--seeds") == 0 && more) {
            options.seeds = std::strtoull(argv[++i], nullptr, 10);
        } else if (std::strcmp(argv[i], "--workers") == 0 && more) {
            options.workers = static_cast<unsigned>(std::max(1, std::atoi(argv[++i])));
        } else if (std::strcmp(argv[i], "--storm") == 0 && more) {
            zbs::Result<StormPlan> storm = zbs::simulation::read_storm(argv[++i]);
            if (!storm) return refuse(storm.error());
            options.storms = {*std::move(storm)};
        } else if (std::strcmp(argv[i], "--storms") == 0 && more) {
            zbs::Result<std::vector<StormPlan>> storms = zbs::simulation::read_storms(argv[++i]);
            if (!storms) return refuse(storms.error());
            options.storms = *std::move(storms);
        } else if (std::strcmp(argv[i], "--chronicle") == 0) {
            options.chronicle = true;
        } else {
            return usage();
        }
    }
    if (options.storms.empty()) options.storms = {zbs::simulation::mixed_storm()};
    mallopt(M_MMAP_THRESHOLD, 1 << 30);  // a world is thrown away as a whole: giving memory back costs a tenth
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    bool all = true;
    for (const StormPlan& storm : options.storms) all = run_storm(options, storm) && all;
    return all ? 0 : 1;
}
