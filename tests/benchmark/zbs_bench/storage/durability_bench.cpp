#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iostream>
#include <thread>
#include <vector>

#include "algorithms/base/ids.hpp"
#include "services/common/adapters/sqlite/database.hpp"
#include "services/common/messages/names/owned_id.hpp"
#include "tests/benchmark/zbs_bench/storage/running_zone.hpp"
#include "tests/benchmark/zbs_bench/storage/storage_bench.hpp"

namespace zbs::bench {
namespace {

using Wall = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct Row {
    std::string what;
    double rate = 0;                       ///< per second
    double p50 = 0, p99 = 0, longest = 0;  ///< ms
    std::uint64_t failed = 0;
};

Row row_of(std::string what, std::vector<double> times, double seconds, std::uint64_t failed = 0) {
    std::sort(times.begin(), times.end());
    if (times.empty()) return {std::move(what), 0, 0, 0, 0, failed};
    const auto at = [&](double part) {
        return times[std::min(times.size() - 1, static_cast<std::size_t>(part * static_cast<double>(times.size())))];
    };
    return {std::move(what), static_cast<double>(times.size()) / seconds, at(0.5), at(0.99), times.back(), failed};
}

/// `act` over and over for some time.
Row repeat(const std::string& what, double seconds, const std::function<void()>& act) {
    std::vector<double> times;
    const auto begin = Wall::now();
    while (Seconds(Wall::now() - begin).count() < seconds) {
        const auto start = Wall::now();
        act();
        times.push_back(Seconds(Wall::now() - start).count() * 1e3);
    }
    return row_of(what, std::move(times), Seconds(Wall::now() - begin).count());
}

Row append_pages(const std::string& folder, double seconds) {
    const std::string path = folder + "/pages";
    const int file = open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    const std::string page(4'096, 'x');
    Row row = repeat("disk: 4 KiB appended, fdatasync", seconds, [&] {
        if (write(file, page.data(), page.size()) != static_cast<ssize_t>(page.size()) || fdatasync(file) != 0)
            std::abort();
    });
    close(file);
    unlink(path.c_str());
    return row;
}

Row commit_rows(const std::string& folder, double seconds) {
    const std::string path = folder + "/rows.db";
    const auto database =
        sqlite::Database::open(path, {"CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT NOT NULL)"}).value();
    const std::string text(1'000, 'x');
    return repeat("SQLite: one row of 1 kB a commit", seconds, [&] {
        sqlite::Database::Query insert(*database, "INSERT INTO t(text) VALUES(?)");
        insert.bind(text);
        if (!insert.step()) std::abort();
    });
}

struct Load {
    int clients = 1;
    double seconds = 5;
    double per_second = 0;  ///< of all clients; 0 = as fast as they are answered
};

Row submit(const RunningZone& zone, const Load& load, const std::string& what) {
    std::vector<std::vector<double>> times(static_cast<std::size_t>(load.clients));
    std::atomic<std::uint64_t> failed{0};
    static std::atomic<std::uint64_t> next{1};
    static int series = 0;
    ++series;
    const auto begin = Wall::now();
    const auto end = begin + std::chrono::duration_cast<Wall::duration>(Seconds(load.seconds));
    std::vector<std::thread> threads;
    for (int c = 0; c < load.clients; ++c) {
        threads.emplace_back([&, c] {
            // Own users: each may have 10,000 unfinished ones.
            int user = 0;
            std::uint64_t mine = 0;
            Connection connection(zone.port());
            const double gap = load.per_second > 0 ? load.clients / load.per_second : 0;
            auto due = begin + std::chrono::duration_cast<Wall::duration>(Seconds(gap * c / load.clients));
            while (Wall::now() < end) {
                if (gap > 0) std::this_thread::sleep_until(due);
                if (mine++ % 9'000 == 0) ++user;
                const Caller owner{CallerKind::kUser, "alpha",
                                   "s" + std::to_string(series) + "-" + std::to_string(c) + "-" + std::to_string(user)};
                const std::string who = "Zbs-Identity: " + to_uri(owner) + "\r\nZbs-Token: " + zone.token_text + "\r\n";
                const Id128 id = make_id128(std::chrono::duration_cast<std::chrono::milliseconds>(
                                                std::chrono::system_clock::now().time_since_epoch())
                                                .count(),
                                            static_cast<std::uint64_t>(c), next++);
                const std::string body = "{\"id\":\"" + to_string(marked(id, owner)) +
                                         "\",\"ranks\":1,\"argv\":[\"/home/ana/solver\",\"--steps\",\"100\"],"
                                         "\"directory\":\"/tmp\",\"environment\":{\"PATH\":\"/usr/bin:/bin\"}}";
                const auto start = gap > 0 ? due : Wall::now();  // what waited for a slow answer before counts, too
                if (connection.call("POST", "/v1/applications", who, body) == 202)
                    times[static_cast<std::size_t>(c)].push_back(Seconds(Wall::now() - start).count() * 1e3);
                else
                    ++failed;
                due += std::chrono::duration_cast<Wall::duration>(Seconds(gap));
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    std::vector<double> all;
    for (const auto& some : times) all.insert(all.end(), some.begin(), some.end());
    return row_of(what, std::move(all), Seconds(Wall::now() - begin).count(), failed);
}

void print(const Row& row) {
    std::printf("| %s | %.0f | %.2f | %.2f | %.2f | %llu |\n", row.what.c_str(), row.rate, row.p50, row.p99,
                row.longest, static_cast<unsigned long long>(row.failed));
    std::fflush(stdout);
}

}  // namespace

int run_durability_bench(int argc, char** argv) {
    CLI::App cli{
        "Durable submissions to a real zbs-zone over loopback, beside what its disk can do.\n\n"
        "Example: zbs_bench durability --folder /var/tmp/bench"};
    std::string program = (std::filesystem::canonical("/proc/self/exe").parent_path() / "zbs-zone").string(), folder;
    double seconds = 5;
    int clients = 32, rounds = 1;
    cli.add_option("--program", program, "zbs-zone");
    cli.add_option("--folder", folder, "on the disk to measure; default: a new one in the temporary folder");
    cli.add_option("--seconds", seconds, "for each row");
    cli.add_option("--clients", clients, "of the loaded rows");
    cli.add_option("--rounds", rounds, "all rows again, on a new zone");
    CLI11_PARSE(cli, argc, argv);
    std::cout << "cores: " << std::thread::hardware_concurrency() << "\ncommand: zbs_bench";
    for (int i = 0; i < argc; ++i) std::cout << ' ' << argv[i];
    std::cout << "\n\n| what | a second | p50, ms | p99, ms | longest, ms | failed |\n|---|---|---|---|---|---|\n";
    if (folder.empty())
        folder = std::filesystem::temp_directory_path() / ("zbs-durability-" + std::to_string(getpid()));
    for (int round = 0; round < rounds; ++round) {
        std::filesystem::remove_all(folder);
        RunningZone::configure(folder);
        print(append_pages(folder, seconds));
        print(commit_rows(folder, seconds));
        Result<RunningZone> zone = RunningZone::start(program, folder);
        if (!zone) return std::cerr << zone.error() << "\n", 1;
        zone->token_text = zone->token();
        const auto load = [&](int count, double rate) { return Load{count, seconds, rate}; };
        print(submit(*zone, load(1, 0), "zone: 1 client"));
        const std::string many = "zone: " + std::to_string(clients) + " clients";
        const Row full = submit(*zone, load(clients, 0), many);
        print(full);
        print(submit(*zone, load(clients, full.rate / 2), many + " at half of that"));
        zone->kill();
    }
    std::filesystem::remove_all(folder);
    return 0;
}

}  // namespace zbs::bench
