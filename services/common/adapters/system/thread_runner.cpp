#include "services/common/adapters/system/thread_runner.hpp"

#include <sched.h>

#include <algorithm>
#include <system_error>

#include "algorithms/base/expects.hpp"

namespace zbs::system {
namespace {
thread_local const ThreadRunner* works_for = nullptr;
}

int usable_processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

ThreadRunner::ThreadRunner(int width) {
    ZBS_EXPECTS(width >= 0);
    const int wanted = width == 0 ? usable_processors() : width;
    try {
        for (int i = 1; i < wanted; ++i) threads_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {  // no more threads to be had
    }
}

ThreadRunner::~ThreadRunner() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void ThreadRunner::run(int count, const std::function<void(int)>& work) {
    if (threads_.empty() || count <= 1 || works_for == this) {
        for (int i = 0; i < count; ++i) work(i);
        return;
    }
    const std::lock_guard turn(turn_);
    const ThreadRunner* before = works_for;
    works_for = this;
    {
        std::unique_lock lock(mutex_);
        work_ = &work;
        next_ = 0;
        count_ = count;
        wake_.notify_all();
        work_along(lock);
        done_.wait(lock, [this] { return running_ == 0; });
        work_ = nullptr;
    }
    works_for = before;
}

void ThreadRunner::work_along(std::unique_lock<std::mutex>& lock) {
    while (next_ < count_) {
        const int index = next_++;
        const std::function<void(int)>& work = *work_;
        ++running_;
        lock.unlock();
        work(index);
        lock.lock();
        if (--running_ == 0 && next_ == count_) done_.notify_all();
    }
}

void ThreadRunner::serve() {
    works_for = this;
    std::unique_lock lock(mutex_);
    for (;;) {
        wake_.wait(lock, [this] { return stopping_ || (work_ != nullptr && next_ < count_); });
        if (stopping_) return;
        work_along(lock);
    }
}

}  // namespace zbs::system
