#pragma once
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "services/common/adapters/process/process_tree.hpp"
#include "services/common/adapters/process/step_executor.hpp"
#include "tests/support/temporary_folder.hpp"

namespace zbs::process {
using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

template <class Claim>
bool eventually(Claim claim, SteadyClock::duration patience = 10s) {
    const auto end = SteadyClock::now() + patience;
    while (!claim()) {
        if (SteadyClock::now() > end) return false;
        std::this_thread::sleep_for(5ms);
    }
    return true;
}

/// The real supervisor and real processes, in a folder of their own.
class StepExecutorTest : public testing::Test {
  protected:
    using State = StepStatus::State;

    StepExecutorTest() { open(); }
    ~StepExecutorTest() override {
        for (const std::string& operation : started_) {
            if (const auto supervisor = supervisor_of(operation)) send_signal(*supervisor, SIGKILL);
            eventually([&] { return executor->status(operation).state != State::kRunning; });
        }
    }
    /// A fresh executor on the same folder, as after a restart of the service.
    void open(StepExecutorOptions options = {}) {
        options.folder = folder.path("steps");
        options.supervisor = ZBS_STEP;
        auto made = make_step_executor(std::move(options));
        ASSERT_TRUE(made) << made.error();
        executor = *std::move(made);
    }
    Result<void> start(const std::string& operation, const std::string& script, StepSpec spec = {}) {
        spec.operation = operation;
        spec.argv = {"/bin/sh", "-c", script};
        spec.environment.emplace_back("PATH", "/usr/bin:/bin");
        started_.push_back(operation);
        return executor->start(spec);
    }
    /// Runs `script` to its end; what it printed.
    std::string output(const std::string& operation, const std::string& script, StepSpec spec = {}) {
        const auto started = start(operation, script, std::move(spec));
        EXPECT_TRUE(started) << started.error();
        if (!started) return {};
        wait(operation);
        return text(operation, ".zbs-stdout");
    }
    StepStatus wait(const std::string& operation) {
        EXPECT_TRUE(eventually([&] { return executor->status(operation).state == State::kExited; }))
            << operation << " does not end";
        return executor->status(operation);
    }
    std::string text(const std::string& operation, const std::string& file) {
        const auto read = executor->read(operation, file, 0, 1 << 20);
        return read ? *read : "(" + read.error().message + ")";
    }
    bool wait_for_text(const std::string& operation, const std::string& file, const std::string& part) {
        return eventually([&] { return text(operation, file).find(part) != std::string::npos; });
    }
    std::optional<ProcessRef> supervisor_of(const std::string& operation) {
        const auto read = read_file(folder.path("steps/" + operation + "/supervisor"));
        ProcessRef process;
        unsigned long long start_time = 0;
        if (!read || std::sscanf(read->c_str(), "%d %llu", &process.pid, &start_time) != 2) return std::nullopt;
        process.start_time = start_time;
        return process;
    }
    std::size_t alive(const std::string& operation) { return find_marked(step_variable(operation), 0).size(); }

    test::TemporaryFolder folder;
    std::unique_ptr<StepExecutor> executor;

  private:
    std::vector<std::string> started_;
};

}  // namespace zbs::process
