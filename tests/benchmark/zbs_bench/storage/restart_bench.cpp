#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <thread>

#include "services/common/adapters/sqlite/zone_store.hpp"
#include "tests/benchmark/zbs_bench/storage/running_zone.hpp"
#include "tests/benchmark/zbs_bench/storage/storage_bench.hpp"

namespace zbs::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr int kUsers = 20;  ///< each may have 10,000 unfinished ones

double ms_since(SteadyClock::time_point start) {
    return std::chrono::duration<double, std::milli>(SteadyClock::now() - start).count();
}

std::string zone_program_beside_us() {
    return (std::filesystem::canonical("/proc/self/exe").parent_path() / "zbs-zone").string();
}

Application make_application(std::uint64_t number, bool ended) {
    Application made;
    made.owner = {CallerKind::kUser, "alpha", "user" + std::to_string(number % kUsers)};
    made.request.id = {make_id128(1'700'000'000'000 + static_cast<std::int64_t>(number), 7, number)};
    made.request.argv = {"/home/user/bin/solver", "--steps", "1000"};
    made.request.directory = "/home/user/runs/" + std::to_string(number);
    for (int i = 0; i < 8; ++i)
        made.request.environment.emplace_back("VARIABLE_" + std::to_string(i), "/some/value/of/usual/length");
    made.request.walltime = std::chrono::hours{1};
    const Time at = time_from_microseconds(1'700'000'000'000'000 + static_cast<std::int64_t>(number));
    made.status.history = {{ApplicationState::kAccepted, at}};
    if (!ended) return made;
    using enum ApplicationState;
    for (const ApplicationState state : {kPlanned, kHeld, kCommitted, kLaunching, kRunning, kCompleted})
        made.status.history.push_back({state, at});
    made.status.state = kCompleted;
    made.status.exit_code = 0;
    made.status.launcher_step = StepId("mpi-" + to_string(made.request.id));
    return made;
}

/// Milliseconds to `GET /readyz` and to an answered list, from the start of the process; its megabytes then.
struct Start {
    double ready = 0, answered = 0, megabytes = 0;
};

Result<Start> start_once(const std::string& program, const std::string& folder) {
    Start start;
    const auto begin = SteadyClock::now();
    Result<RunningZone> zone = RunningZone::start(program, folder);
    if (!zone) return zone.error();
    Connection connection(zone->port());
    while (connection.call("GET", "/readyz", "") != 200) std::this_thread::sleep_for(std::chrono::milliseconds{5});
    start.ready = ms_since(begin);
    const std::string who = "Zbs-Identity: spiffe://alpha/user/user1\r\nZbs-Token: " + zone->token() + "\r\n";
    if (connection.call("GET", "/v1/applications?limit=20", who) != 200)
        return Error{ErrorCode::kUnavailable, "the list was refused: " + connection.body(), {}};
    start.answered = ms_since(begin);
    start.megabytes = zone->resident_megabytes();
    zone->kill();
    return start;
}

}  // namespace

int run_restart_bench(int argc, char** argv) {
    CLI::App cli{
        "From the start of zbs-zone to its first answers, with many stored applications.\n\n"
        "Example: zbs_bench restart --counts 1000,10000,100000"};
    std::vector<std::uint64_t> counts = {1'000, 10'000, 100'000};
    std::string program = zone_program_beside_us(), folder;
    int rounds = 3;
    cli.add_option("--counts", counts, "stored applications")->delimiter(',');
    cli.add_option("--program", program, "zbs-zone");
    cli.add_option("--folder", folder, "on the disk to measure; default: a new one in the temporary folder");
    cli.add_option("--rounds", rounds, "starts of each; the median is shown");
    CLI11_PARSE(cli, argc, argv);
    std::cout << "cores: " << std::thread::hardware_concurrency() << "\ncommand: zbs_bench";
    for (int i = 0; i < argc; ++i) std::cout << ' ' << argv[i];
    std::cout << "\n\n| stored | of them ended | database, MiB | ready, ms | list answered, ms | resident, MiB |\n"
                 "|---|---|---|---|---|---|\n";
    if (folder.empty()) folder = std::filesystem::temp_directory_path() / ("zbs-restart-" + std::to_string(getpid()));
    for (const std::uint64_t count : counts) {
        for (const int ended_percent : {90, 0}) {
            std::filesystem::remove_all(folder);
            RunningZone::configure(folder);
            std::filesystem::create_directories(folder + "/state");
            const std::string path = folder + "/state/zone.db";
            {
                const auto database = sqlite::open_zone_database(path, sqlite::Durability::kBatches);
                if (!database) return std::cerr << database.error() << "\n", 1;
                for (std::uint64_t i = 0; i < count; ++i) {
                    const bool ended = static_cast<int>(i % 100) < ended_percent;
                    if (auto stored = database->zone->insert(make_application(i, ended)); !stored)
                        return std::cerr << stored.error() << "\n", 1;
                }
                if (auto kept = database->journal->commit(); !kept) return std::cerr << kept.error() << "\n", 1;
            }
            const double mib = static_cast<double>(std::filesystem::file_size(path)) / 1048576;
            std::vector<Start> starts;
            for (int round = 0; round < rounds; ++round) {
                const Result<Start> start = start_once(program, folder);
                if (!start) return std::cerr << start.error() << "\n", 1;
                starts.push_back(*start);
            }
            std::sort(starts.begin(), starts.end(),
                      [](const Start& a, const Start& b) { return a.answered < b.answered; });
            const Start& middle = starts[starts.size() / 2];
            std::printf("| %llu | %d %% | %.0f | %.0f | %.0f | %.0f |\n", static_cast<unsigned long long>(count),
                        ended_percent, mib, middle.ready, middle.answered, middle.megabytes);
            std::fflush(stdout);
        }
    }
    std::filesystem::remove_all(folder);
    return 0;
}

}  // namespace zbs::bench
