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
        for (const StepId& step_id : started_) {
            if (const auto supervisor = supervisor_of(step_id)) send_signal(*supervisor, SIGKILL);
            eventually([&] { return executor->status(step_id).state != State::kRunning; });
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
    Result<void> start(const StepId& step_id, const std::string& script, StepSpec spec = {}) {
        spec.step_id = step_id;
        spec.argv = {"/bin/sh", "-c", script};
        spec.environment.emplace_back("PATH", "/usr/bin:/bin");
        started_.push_back(step_id);
        return executor->start(spec);
    }
    /// Runs `script` to its end; what it printed.
    std::string output(const StepId& step_id, const std::string& script, StepSpec spec = {}) {
        const auto started = start(step_id, script, std::move(spec));
        EXPECT_TRUE(started) << started.error();
        if (!started) return {};
        wait(step_id);
        return text(step_id, ".zbs-stdout");
    }
    StepStatus wait(const StepId& step_id) {
        EXPECT_TRUE(eventually([&] { return executor->status(step_id).state == State::kExited; }))
            << step_id << " does not end";
        return executor->status(step_id);
    }
    std::string text(const StepId& step_id, const std::string& file) {
        const auto read = executor->read(step_id, file, 0, 1 << 20);
        return read ? *read : "(" + read.error().message + ")";
    }
    bool wait_for_text(const StepId& step_id, const std::string& file, const std::string& part) {
        return eventually([&] { return text(step_id, file).find(part) != std::string::npos; });
    }
    std::optional<ProcessRef> supervisor_of(const StepId& step_id) {
        const auto read = read_file(folder.path("steps/" + step_id + "/supervisor"));
        ProcessRef process;
        unsigned long long start_time = 0;
        if (!read || std::sscanf(read->c_str(), "%d %llu", &process.pid, &start_time) != 2) return std::nullopt;
        process.start_time = start_time;
        return process;
    }
    std::size_t alive(const StepId& step_id) { return find_marked(step_variable(step_id), 0).size(); }

    test::TemporaryFolder folder;
    std::unique_ptr<StepExecutor> executor;

  private:
    std::vector<StepId> started_;
};

}  // namespace zbs::process
