#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "algorithms/base/task_runner.hpp"

namespace zbs::system {

/// TaskRunner with threads that wait between calls; the caller works along. May be called from several threads (one
/// call after the other) and from inside its own work (which then runs on that thread alone).
class ThreadRunner final : public TaskRunner {
  public:
    /// `width` >= 1 threads with the caller's; 0 takes one per processor that this process may use. Where the system
    /// gives fewer threads, the width is what it gave.
    explicit ThreadRunner(int width);
    ~ThreadRunner() override;
    ThreadRunner(const ThreadRunner&) = delete;
    ThreadRunner& operator=(const ThreadRunner&) = delete;

    int width() const override { return static_cast<int>(threads_.size()) + 1; }
    void run(int count, const std::function<void(int)>& work) override;

  private:
    void serve();
    void work_along(std::unique_lock<std::mutex>& lock);

    std::mutex turn_;  // of callers
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    const std::function<void(int)>* work_ = nullptr;
    int next_ = 0, count_ = 0, running_ = 0;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

/// Processors that this process may use, >= 1.
int usable_processors();

}  // namespace zbs::system
