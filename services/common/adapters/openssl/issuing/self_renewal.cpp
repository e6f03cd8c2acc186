#include "services/common/adapters/openssl/issuing/self_renewal.hpp"

namespace zbs::openssl {

SelfRenewal::SelfRenewal(KeyFolder& keys, TlsServer& server, Clock& clock, Log& log, std::string remedy)
    : keys_(keys), server_(server), clock_(clock), log_(log), remedy_(std::move(remedy)) {}

void SelfRenewal::start() { look(); }

void SelfRenewal::look() {
    const Result<void> good = renew();
    if (good)
        warned_.reset();
    else
        warn(good.error().message);
    clock_.after(kEvery, [this] { look(); });
}

Result<void> SelfRenewal::renew() {
    const Time now = clock_.now();
    if (keys_.is_due(now)) {
        const Result<bool> renewed = keys_.renew_if_due(now);
        if (!renewed) return renewed.error();
        if (!*renewed) {
            return Error{ErrorCode::kUnavailable,
                         keys_.can_issue() ? "the organisation's CA itself ends then: make a new organisation, or "
                                             "import a CA that lasts"
                                           : "this service holds no CA key: get a new certificate for its key from "
                                             "the organisation's CA, then " +
                                                 remedy_,
                         {}};
        }
        shown_ = false;
    }
    if (shown_) return {};
    if (auto shown = server_.reload(); !shown) return shown;  // tried again: the old certificate is still good
    shown_ = true;
    if (on_renewed_) on_renewed_();
    log_.info("certificate_renewed", {{"until_us", std::to_string(to_microseconds(keys_.not_after()))}});
    return {};
}

void SelfRenewal::warn(const std::string& reason) {
    const Duration now = clock_.steady_now();
    if (warned_ && now - *warned_ < kWarnEvery) return;
    warned_ = now;
    const auto left = std::chrono::duration_cast<std::chrono::hours>(keys_.not_after() - clock_.now());
    log_.warn("certificate_runs_out", {{"hours_left", std::to_string(left.count())}, {"reason", reason}});
}

}  // namespace zbs::openssl
