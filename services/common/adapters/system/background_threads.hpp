#pragma once
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <utility>

#include "services/common/adapters/system/asio_clock.hpp"
#include "services/common/ports/background.hpp"

namespace zbs::system {

/// BackgroundWork on threads of its own. At its end work that has not begun is dropped, and what has begun is awaited.
class BackgroundThreads final : public BackgroundWork {
  public:
    explicit BackgroundThreads(Strand strand) : strand_(std::move(strand)) {}
    ~BackgroundThreads() override;
    BackgroundThreads(const BackgroundThreads&) = delete;
    BackgroundThreads& operator=(const BackgroundThreads&) = delete;
    void run(std::function<void()> work, std::function<void()> done) override;

  private:
    Strand strand_;
    boost::asio::thread_pool threads_{2};
};

}  // namespace zbs::system
