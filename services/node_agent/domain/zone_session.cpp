#include "services/node_agent/domain/zone_session.hpp"

#include <algorithm>
#include <utility>

namespace zbs {

void ZoneSession::start(std::string url) {
    url_ = std::move(url);
    register_now();
}

void ZoneSession::stop() { stopped_ = true; }

void ZoneSession::register_now() {
    if (stopped_) return;
    send_(node_.registration(url_), [this](const Result<NodeLease>& lease) { answered(lease); });
}

void ZoneSession::answered(const Result<NodeLease>& lease) {
    if (stopped_) return;
    Duration next = kRenewEvery;
    if (lease) {
        if (!registered_) log_.info("registered", {{"lease_s", std::to_string(to_seconds(lease->lease))}});
        if (lease->lease > Duration{0}) next = std::min(next, lease->lease / 3);
        retry_ = kFirstRetry;
        warned_ = false;
    } else {
        if (!std::exchange(warned_, true))
            log_.warn("not_registered", {{"reason", lease.error().message},
                                         {"what_now", "steps go on; the zone is asked again until it answers"}});
        next = retry_;
        retry_ = std::min(retry_ * 2, kRenewEvery);
    }
    registered_ = lease.has_value();
    clock_.after(next, [this] { register_now(); });
}

}  // namespace zbs
