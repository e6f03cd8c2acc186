#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "services/common/ports/http_client.hpp"
#include "services/common/ports/storage/journal.hpp"

namespace zbs {

/// An HttpClient for orders to the zone's own agents, which wait for no commit: none goes out once another scheduler
/// has taken over, and each names its turn (`turn=N` in the address of a PUT or POST), so that an agent refuses one
/// that was under way when its sender was stopped. Any thread.
class LeasedClient : public HttpClient {
  public:
    /// `turn`: number of the lease that the zone acts under; 0: it has none, nothing is named. `lost` is called where
    /// another has taken over (`Journal::is_ours`), and should end the process: that call is never answered.
    LeasedClient(HttpClient& client, const Journal& journal, std::int64_t turn, std::function<void(const Error&)> lost)
        : client_(client), journal_(journal), turn_(turn), lost_(std::move(lost)) {}

    void call(HttpCall call, std::function<void(Result<HttpAnswer>)> respond) override {
        if (!journal_.is_ours())
            return lost_({ErrorCode::kUnavailable, "another zone scheduler has taken over, or may have", {}});
        if (turn_ > 0 && (call.method == "PUT" || call.method == "POST"))
            call.path += (call.path.find('?') == std::string::npos ? "?turn=" : "&turn=") + std::to_string(turn_);
        client_.call(std::move(call), std::move(respond));
    }

  private:
    HttpClient& client_;
    const Journal& journal_;
    std::int64_t turn_;
    std::function<void(const Error&)> lost_;
};

}  // namespace zbs
