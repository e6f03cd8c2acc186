#include "services/common/adapters/system/background_threads.hpp"

#include <boost/asio/post.hpp>

namespace zbs::system {

BackgroundThreads::~BackgroundThreads() {
    threads_.stop();
    threads_.join();
}

void BackgroundThreads::run(std::function<void()> work, std::function<void()> done) {
    boost::asio::post(threads_, [strand = strand_, work = std::move(work), done = std::move(done)]() mutable {
        work();
        work = nullptr;  // what it holds is freed here, not on the strand
        boost::asio::post(strand, std::move(done));
    });
}

}  // namespace zbs::system
