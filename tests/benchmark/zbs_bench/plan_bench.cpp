#include "tests/benchmark/zbs_bench/plan_bench.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <thread>
#include <vector>

#include "tests/support/federation_world.hpp"
#include "tests/support/graphs.hpp"

namespace zbs::bench {
namespace {

using Wall = std::chrono::steady_clock;

double milliseconds(Wall::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

/// Work of a zone's background on a thread of its own, whose end is reported by `poll`.
class Worker {
  public:
    explicit Worker(test::VirtualBackground& background) : background_(background) { background.is_held = true; }
    ~Worker() {
        if (thread_.joinable()) thread_.join();
    }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    void poll() {
        if (is_over_.exchange(false)) {
            thread_.join();
            busy = Wall::now() - begun_;
            done_();
        }
        if (thread_.joinable() || background_.held.empty()) return;
        auto [work, done] = std::move(background_.held.front());
        background_.held.erase(background_.held.begin());
        done_ = std::move(done);
        begun_ = Wall::now();
        thread_ = std::thread([this, work = std::move(work)] {
            work();
            is_over_ = true;
        });
    }
    Wall::duration busy{};  ///< with the last one

  private:
    test::VirtualBackground& background_;
    std::thread thread_;
    std::function<void()> done_;
    Wall::time_point begun_;
    std::atomic<bool> is_over_ = false;
};

/// One application from its submission until all its zones have committed it. Time of the world is that of the clock
/// on the wall, so a call waits for as long as one round of the loop takes.
void measure(int ranks, int zones) {
    test::FederationWorld world(
        std::vector<int>(static_cast<std::size_t>(zones), ranks / zones + ranks / zones / 20 + 1), {"org-a"},
        test::FederationWorld::Looking::kFirst);
    world.look_rarely();
    test::FederationWorld::Node& home = world.node("a");
    Worker worker(*home.background);
    ApplicationRequest request = world.request(ranks);
    request.model = ApplicationModel{"/bin/app", true, test::large_clusters(ranks, zones, 8, 2, 1)};
    std::vector<double> planning, after;
    const auto begun = Wall::now();
    if (!home.applications->submit(world.user(), request)) std::abort();
    Wall::duration planned{};
    ApplicationState state{};
    for (auto last = Wall::now(); state < ApplicationState::kCommitted;) {
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
        const auto start = Wall::now();
        worker.poll();
        world.run(std::chrono::duration_cast<Duration>(start - std::exchange(last, start)));
        state = home.applications->find(world.user(), request.id).value()->status.state;
        (state == ApplicationState::kAccepted ? planning : after).push_back(milliseconds(Wall::now() - start));
        if (state > ApplicationState::kAccepted && planned == Wall::duration{}) planned = Wall::now() - begun;
    }
    std::ranges::sort(planning);
    const auto at = [&](double part) {
        return planning[std::min(planning.size() - 1,
                                 static_cast<std::size_t>(part * static_cast<double>(planning.size())))];
    };
    std::printf("| %d, %zu, %d | %.0f | %.0f | %.0f | %zu | %.2f | %.2f | %.2f | %.2f |\n", ranks,
                request.model->graph.edge_count(), zones, milliseconds(worker.busy), milliseconds(planned),
                milliseconds(Wall::now() - begun), planning.size(), at(0.5), at(0.99), planning.back(),
                std::ranges::max(after));
    std::fflush(stdout);
}

}  // namespace

int run_plan_bench(int argc, char** argv) {
    CLI::App cli{
        "How long a call waits while a zone plans a large application, and how long the plan takes. Zones and network "
        "are those of the unit tests, without REST and disk.\n\nExample: zbs_bench plan --ranks 10000 --zones 60"};
    int ranks = 10'000, zones = 60, rounds = 1;
    cli.add_option("--ranks", ranks, "of the application; about 10 pairs each")->check(CLI::Range(100, 1'000'000));
    cli.add_option("--zones", zones, "that hold all ranks together")->check(CLI::Range(1, 1'000));
    cli.add_option("--rounds", rounds, "each in a new world");
    CLI11_PARSE(cli, argc, argv);
    std::cout << "cores: " << std::thread::hardware_concurrency() << "\ncommand: zbs_bench";
    for (int i = 0; i < argc; ++i) std::cout << ' ' << argv[i];
    std::cout
        << "\n\n| ranks, pairs, zones | mapping, ms | until planned | until committed | calls meanwhile | p50, ms "
           "| p99 | longest | longest of holds |\n|---|---|---|---|---|---|---|---|---|\n";
    for (int round = 0; round < rounds; ++round) measure(ranks, zones);
    return 0;
}

}  // namespace zbs::bench
