#pragma once
#include <functional>
#include <string>

#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"
#include "services/node_agent/domain/node_service.hpp"

namespace zbs {

/// Keeps this node registered at its zone: registers at once, and again every 10 s; after a failure sooner, slower with
/// every further one. The steps do not depend on the zone's answers. Lives on the strand of the service.
class ZoneSession {
  public:
    static constexpr Duration kRenewEvery = std::chrono::seconds{10};
    static constexpr Duration kFirstRetry = std::chrono::seconds{1};
    using Send = std::function<void(const NodeRegistration&, std::function<void(Result<NodeLease>)>)>;

    /// All must outlive this. `send` answers once, on the strand.
    ZoneSession(Clock& clock, NodeService& node, Send send, Log& log)
        : clock_(clock), node_(node), send_(std::move(send)), log_(log) {}

    /// `url`: where this agent listens.
    void start(std::string url);
    void stop();
    /// The zone has answered to the last registration.
    bool is_registered() const { return registered_; }

  private:
    void register_now();
    void answered(const Result<NodeLease>& lease);

    Clock& clock_;
    NodeService& node_;
    Send send_;
    Log& log_;
    std::string url_;
    bool stopped_ = false;
    bool registered_ = false;
    bool warned_ = false;  ///< that the zone does not answer
    Duration retry_ = kFirstRetry;
};

}  // namespace zbs
