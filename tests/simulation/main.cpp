// Runs seeds of the simulated world: simulation [--first N] [--seeds N] [--chronicle] [--minutes M]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/simulation/world.hpp"

int main(int argc, char** argv) {
    std::uint64_t first = 1, seeds = 1;
    zbs::simulation::WorldOptions options;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--first") == 0 && i + 1 < argc)
            first = std::strtoull(argv[++i], nullptr, 10);
        else if (std::strcmp(argv[i], "--seeds") == 0 && i + 1 < argc)
            seeds = std::strtoull(argv[++i], nullptr, 10);
        else if (std::strcmp(argv[i], "--chronicle") == 0)
            options.chronicle = true;
        else {
            std::fprintf(stderr, "usage: simulation [--first SEED] [--seeds COUNT] [--chronicle]\n");
            return 2;
        }
    }
    int bad = 0;
    std::map<std::string, long> ends;
    long applications = 0, crashes = 0, partitions = 0;
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
        options.seed = seed;
        const zbs::simulation::Outcome outcome = zbs::simulation::run_world(options);
        for (const std::string& line : outcome.chronicle) std::puts(line.c_str());
        if (outcome.violation) {
            ++bad;
            std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), outcome.violation->c_str());
        }
        for (const auto& [end, count] : outcome.ends) ends[end] += count;
        applications += outcome.applications;
        crashes += outcome.crashes;
        partitions += outcome.partitions;
        if (seeds == 1)
            std::printf("seed %llu: %d zones, %d applications, %llu messages, %llu events, digest %016llx\n",
                        static_cast<unsigned long long>(seed), outcome.zones, outcome.applications,
                        static_cast<unsigned long long>(outcome.messages),
                        static_cast<unsigned long long>(outcome.events),
                        static_cast<unsigned long long>(outcome.digest));
        std::fflush(stdout);
    }
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::printf("%llu seeds of one simulated hour: %d bad; %ld applications (", static_cast<unsigned long long>(seeds),
                bad, applications);
    const char* comma = "";
    for (const auto& [end, count] : ends) std::printf("%s%ld %s", comma, count, end.c_str()), comma = ", ";
    std::printf("), %ld crashes, %ld partitions; %.2f s each\n", crashes, partitions,
                took / static_cast<double>(seeds));
    return bad == 0 ? 0 : 1;
}
