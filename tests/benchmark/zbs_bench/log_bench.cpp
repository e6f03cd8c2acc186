#include <benchmark/benchmark.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "algorithms/base/rng.hpp"
#include "algorithms/formats/profile_log.hpp"

// The log reader beside `wc -l` on the same file: both read it from the page cache.

namespace {

/// A log of about `megabytes` MB: 64 ranks, two sends to one compute entry. Removed at the end of the program.
class LogFile {
  public:
    explicit LogFile(std::size_t megabytes) {
        const int fd = mkstemp(path_.data());
        close(fd);
        std::string text;
        zbs::formats::ProfileLogWriter writer(text);
        zbs::Rng rng(1);
        for (int i = 0; text.size() < megabytes * 1'000'000; ++i) {
            const int from = static_cast<int>(rng.below(64)), to = static_cast<int>(rng.below(64));
            if (i % 3 == 2) {
                writer.compute(from, static_cast<std::int64_t>(rng.below(100'000)), 1'000'000 + i);
            } else {
                writer.send({from, to, rng.below(1'000'000), 1'000'000 + i});
            }
        }
        bytes_ = static_cast<std::int64_t>(text.size());
        std::ofstream(path_, std::ios::binary) << text;
    }
    ~LogFile() { unlink(path_.c_str()); }
    const std::string& path() const { return path_; }
    std::int64_t bytes() const { return bytes_; }

  private:
    std::string path_ = "/tmp/zbs_bench_log.XXXXXX";
    std::int64_t bytes_ = 0;
};

LogFile& log_file() {
    static LogFile file(100);
    return file;
}

void parse_profile_log(benchmark::State& state) {
    const LogFile& file = log_file();
    std::string buffer(1 << 20, '\0');
    for (auto _ : state) {
        std::ifstream in(file.path(), std::ios::binary);
        zbs::formats::ProfileLogReader reader("log");
        while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || in.gcount() > 0) {
            if (!reader.feed(std::string_view(buffer).substr(0, static_cast<std::size_t>(in.gcount()))))
                state.SkipWithError("refused");
        }
        auto model = reader.finish();
        if (!model) state.SkipWithError("refused");
        benchmark::DoNotOptimize(model);
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * file.bytes());
}
BENCHMARK(parse_profile_log)->Unit(benchmark::kMillisecond)->UseRealTime();

void wc_lines(benchmark::State& state) {
    const LogFile& file = log_file();
    for (auto _ : state) {
        const pid_t child = fork();
        if (child == 0) {
            if (!std::freopen("/dev/null", "w", stdout)) _exit(127);
            execlp("wc", "wc", "-l", file.path().c_str(), static_cast<char*>(nullptr));
            _exit(127);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (status != 0) state.SkipWithError("wc failed");
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * file.bytes());
}
BENCHMARK(wc_lines)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
