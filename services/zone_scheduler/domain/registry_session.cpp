#include "services/zone_scheduler/domain/registry_session.hpp"

namespace zbs {
namespace {
constexpr const char* kCategory = "mpi";
constexpr Duration kRetry = std::chrono::seconds{2};
}  // namespace

RegistrySession::RegistrySession(const ZoneConfig& config, Clock& clock, ZoneTransport& transport, Log& log,
                                 std::function<void(const std::vector<ZoneEntry>&)> found)
    : config_(config), clock_(clock), transport_(transport), log_(log), found_(std::move(found)) {}

void RegistrySession::start() {
    if (config_.registry.url.empty()) return;
    enrol();
    discover();
}

void RegistrySession::enrol() {
    if (leaving_) return;
    const ZoneEntry entry{.name = config_.zone.name,
                          .organisation = config_.organisation,
                          .contact = config_.contact,
                          .url = config_.url,
                          .categories = {kCategory},
                          .interface_version = kInterfaceVersion,
                          .lease = config_.lease};
    transport_.publish(config_.registry, entry, [this](const Result<ZoneEntry>& granted) {
        if (enrolled_ != granted.has_value()) {
            if (granted)
                log_.info("enrolled", {{"registry", config_.registry.url}});
            else
                log_.warn("enrolment_failed",
                          {{"registry", config_.registry.url}, {"reason", granted.error().message}});
        }
        enrolled_ = granted.has_value();
        if (enrolled_)
            clock_.after(config_.renew_every, [this] { renew(); });
        else
            clock_.after(kRetry, [this] { enrol(); });
    });
}

void RegistrySession::renew() {
    if (leaving_) return;
    transport_.renew(config_.registry, config_.zone.name, [this](const Result<ZoneEntry>& renewed) {
        if (renewed) {
            clock_.after(config_.renew_every, [this] { renew(); });
            return;
        }
        log_.warn("lease_not_renewed", {{"registry", config_.registry.url}, {"reason", renewed.error().message}});
        enrolled_ = false;
        clock_.after(kRetry, [this] { enrol(); });  // publishing again is the same as renewing
    });
}

void RegistrySession::discover() {
    if (leaving_) return;
    transport_.list_zones(config_.registry, {kCategory, kInterfaceVersion},
                          [this](const Result<std::vector<ZoneEntry>>& entries) {
                              if (entries) found_(*entries);
                              clock_.after(config_.discover_every, [this] { discover(); });
                          });
}

void RegistrySession::leave() {
    leaving_ = true;
    if (enrolled_) transport_.leave(config_.registry, config_.zone.name, [](const Result<ZoneEntry>&) {});
}

}  // namespace zbs
