#pragma once
#include <functional>

namespace zbs {

/// Carries out independent pieces of work, perhaps at the same time. Algorithms own no threads: a program hands one in
/// (services/common/adapters/system has one with threads). Results of our algorithms never depend on the width.
class TaskRunner {
  public:
    virtual ~TaskRunner() = default;
    /// Pieces that may run at once, >= 1.
    virtual int width() const = 0;
    /// Calls `work(0) ... work(count - 1)`, each once, in any order, and returns after all have. `work` must not throw.
    virtual void run(int count, const std::function<void(int)>& work) = 0;
};

/// One after the other, on the caller's thread.
class SerialRunner final : public TaskRunner {
  public:
    int width() const override { return 1; }
    void run(int count, const std::function<void(int)>& work) override {
        for (int i = 0; i < count; ++i) work(i);
    }
};

}  // namespace zbs
