#include "services/zone_scheduler/records/registry_session.hpp"

#include <algorithm>
#include <iterator>

#include "algorithms/base/duration_text.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/registry.hpp"

namespace zbs {
namespace {
constexpr Duration kRetry = std::chrono::seconds{2};
constexpr Duration kMaxRetry = std::chrono::seconds{30};
constexpr std::size_t kMaxWarnings = 1'000;
constexpr const char* kOwnEnrolment = "\n";  // before the reason, in the set of warnings; no entry's name begins so
constexpr auto kMaxListed = static_cast<std::size_t>(limits::kMaxZonesInRegistry);
}  // namespace

RegistrySession::RegistrySession(const ZoneConfig& config, Clock& clock, RegistryTransport& transport,
                                 const TrustBundles& trust, EntrySigning signing, Log& log, Found found,
                                 std::function<void()> missed, std::function<void()> forget_code)
    : config_(config),
      clock_(clock),
      transport_(transport),
      trust_(trust),
      signing_(std::move(signing)),
      log_(log),
      found_(std::move(found)),
      missed_(std::move(missed)),
      forget_code_(std::move(forget_code)) {}

void RegistrySession::start() {
    if (config_.registry.url.empty()) return;
    code_ = config_.registry_code;
    publish();
    discover();
}

Result<SignedText> RegistrySession::entry(ZoneStanding standing) {
    const std::optional<std::string> bundle = trust_.bundle(config_.organisation);
    const Time issued = clock_.now();
    last_signed_ = std::max(last_signed_, issued);
    return signing_.sign({.name = config_.name(),
                          .organisation = config_.organisation,
                          .contact = config_.contact,
                          .url = config_.url,
                          .categories = categories_of(config_),
                          .interface_version = kInterfaceVersion,
                          .lease = config_.lease,
                          .standing = standing,
                          .issued = issued,
                          .bundle = bundle.value_or("")});
}

void RegistrySession::publish() {
    if (leaving_) return;
    const bool drain_sent = draining_;
    const Result<SignedText> signed_entry = entry(draining_ ? ZoneStanding::kDrain : ZoneStanding::kActive);
    if (!signed_entry) return published(signed_entry.error());
    const auto answered = [this, drain_sent, version = entry_version_](const Result<ZoneLease>& lease) {
        if (lease) {
            drain_sent_ = drain_sent;
            version_sent_ = version;
        }
        published(lease);
    };
    if (!code_.empty() && !without_code_) return transport_.enrol(config_.registry, code_, *signed_entry, answered);
    transport_.publish(config_.registry, *signed_entry, answered);
}

void RegistrySession::published(const Result<ZoneLease>& lease) {
    if (lease && !enrolled_) {
        log_.info("enrolled", {{"registry", config_.registry.url}});
        std::erase_if(warned_, [](const std::string& reason) { return reason.starts_with(kOwnEnrolment); });
    }
    enrolled_ = lease.has_value();
    fault_ = lease ? std::string{} : lease.error().message;
    if (lease && lease->rival) record_rival(*lease->rival);
    if (!lease) {
        // Each reason once between two times of being enrolled: it is tried again and again.
        if (warned_.size() < kMaxWarnings && warned_.insert(kOwnEnrolment + lease.error().message).second)
            log_.warn("enrolment_failed", {{"registry", config_.registry.url}, {"reason", lease.error().message}});
        // A code that does not work may have worked before, and only the answer was lost: then the zone is enrolled.
        without_code_ = !code_.empty() && !without_code_ && lease.error().code == ErrorCode::kDenied;
        const bool refused =
            lease.error().code == ErrorCode::kDenied || lease.error().code == ErrorCode::kUnauthenticated;
        const bool contested = lease.error().code == ErrorCode::kConflict;  // another one may stop at any time
        clock_.after(contested ? kRivalRetry : retry_, [this] { publish(); });
        // Who is down is back at once or later; who refuses does so again.
        retry_ = refused ? std::min(retry_ * 2, kMaxRetry) : kRetry;
        return;
    }
    retry_ = kRetry;
    if (!code_.empty()) {
        code_.clear();
        if (forget_code_) forget_code_();
    }
    clock_.after(config_.renew_every, [this] { renew(); });
}

void RegistrySession::renew() {
    if (leaving_) return;
    // The registry does not know yet: publishing renews as well.
    if (drain_sent_ != draining_ || version_sent_ != entry_version_) return publish();
    transport_.renew(config_.registry, config_.name(), [this](const Result<ZoneLease>& renewed) {
        if (renewed) {
            if (renewed->rival) record_rival(*renewed->rival);
            forget_ended_rival();
            clock_.after(config_.renew_every, [this] { renew(); });
            return;
        }
        log_.warn("lease_not_renewed", {{"registry", config_.registry.url}, {"reason", renewed.error().message}});
        enrolled_ = false;
        fault_ = renewed.error().message;
        clock_.after(kRetry, [this] { publish(); });  // publishing again is the same as renewing
    });
}

void RegistrySession::record_clock(Duration ahead) {
    const bool is_none = ahead == Duration{0};
    if (!is_none && std::chrono::abs(ahead) < kClockDifferenceShown) return;  // so near the limit it comes and goes
    if (!is_none && clock_ahead_ == Duration{0})
        log_.warn("registry_clock", {{"reason", clock_difference_text("the registry", ahead, "this zone's")}});
    clock_ahead_ = ahead;
}

void RegistrySession::record_rival(const RivalClaim& rival) {
    if (!rival_ || rival_->zone != rival.zone || rival_->url != rival.url)
        log_.warn("identity_claimed_twice",
                  {{"rival", rival.zone},
                   {"url", rival.url},
                   {"age", format_duration(rival.age)},
                   {"remedy", "stop one of the two schedulers, or make another key and name for it"}});
    rival_ = rival;
    rival_at_ = clock_.steady_now() - rival.age;
}

void RegistrySession::forget_ended_rival() {
    if (!rival_ || rival()) return;
    log_.info("identity_claim_ended", {{"rival", rival_->zone}, {"url", rival_->url}});
    rival_.reset();
}

std::optional<RivalClaim> RegistrySession::rival() const {
    if (!rival_) return std::nullopt;
    RivalClaim rival = *rival_;
    rival.age = clock_.steady_now() - rival_at_;
    return rival.age > kRivalRemembered ? std::nullopt : std::optional(rival);
}

void RegistrySession::discover() { check_on({}); }

/// Page after page; the list counts once all is there. A registry that never ends its list is ignored.
void RegistrySession::check_on(const ZoneName& after) {
    if (leaving_) return;
    const ZoneQuery query{
        .category = kMpiCategory, .interface_version = kInterfaceVersion, .after = after, .leases = true};
    transport_.list_zones(config_.registry, query, [this, after](const Result<ZonePage>& page) {
        if (page) {
            std::vector<ZoneEntry> good = verified(*page);
            listed_.insert(listed_.end(), std::make_move_iterator(good.begin()), std::make_move_iterator(good.end()));
            listed_texts_ += page->entries.size();
            const bool goes_on = page->next > after && !page->entries.empty();
            if (goes_on && listed_texts_ < kMaxListed) return check_on(page->next);
            if (page->next.empty())
                found_(listed_);
            else
                warn_once("(list)", "the registry's list has no end");
        } else {
            missed_();
        }
        listed_.clear();
        listed_texts_ = 0;
        clock_.after(config_.discover_every, [this] { discover(); });
    });
}

void RegistrySession::warn_once(const std::string& what, const std::string& reason, const std::string& kind) {
    if (warned_.size() < kMaxWarnings && warned_.insert(what + "\n" + (kind.empty() ? reason : kind)).second)
        log_.warn("registry_entry_refused", {{"entry", what}, {"reason", reason}});
}

std::vector<ZoneEntry> RegistrySession::verified(const ZonePage& page) {
    std::vector<ZoneEntry> good;
    for (std::size_t i = 0; i < page.entries.size(); ++i) {
        const SignedText& text = page.entries[i];
        Result<ZoneEntry> read = signing_.verify(text);
        if (!read) {
            warn_once("(unverified)", read.error().message);
            continue;
        }
        if (const std::optional<std::string> pinned = trust_.bundle(read->organisation)) {
            const Result<std::string> ours = trust_.fingerprint(*pinned), theirs = trust_.fingerprint(read->bundle);
            if (!ours || !theirs || *ours != *theirs) {
                warn_once(read->name, "it brings another bundle of organisation '" + read->organisation +
                                          "' than the one that is trusted here: somebody may be posing as it");
                continue;
            }
        }
        if (read->issued > clock_.now() + kEntryClockTolerance) {
            warn_once(read->name,
                      clock_difference_text("zone '" + read->name + "'", read->issued - clock_.now(), "this zone's"),
                      "clock");
            continue;
        }
        Time& newest = newest_[read->organisation + "/" + read->name];
        if (read->issued < newest) {
            warn_once(read->name, "it is older than one that was seen before: the registry plays back old entries");
            continue;
        }
        // One of the future is of a clock that was wrong: it must not keep out what the mended clock signs.
        newest = std::min(read->issued, clock_.now());
        const bool is_own = read->name == config_.zone.name && read->organisation == config_.organisation;
        const bool is_of_the_future = read->issued > clock_.now();  // maybe of this zone, before its clock was mended
        if (is_own && read->issued > last_signed_ &&
            !is_of_the_future) {  // by another process that has this zone's key
            record_rival({to_uri({CallerKind::kZone, read->organisation, read->name}), read->url});
            if (version_sent_ == entry_version_) sign_anew();
        }
        if (i < page.left.size()) read->leased_until = clock_.now() + page.left[i];
        good.push_back(*std::move(read));
    }
    return good;
}

void RegistrySession::drain(bool on) {
    if (draining_ == on) return;
    draining_ = on;
    log_.info(on ? "draining" : "not_draining", {});
    if (config_.registry.url.empty() || leaving_ || !enrolled_) return;
    const Result<SignedText> changed = entry(on ? ZoneStanding::kDrain : ZoneStanding::kActive);
    if (!changed) return;
    // Where this is lost, the next renewal publishes again; the zone itself refuses work in any case.
    transport_.publish(config_.registry, *changed, [this, on](const Result<ZoneLease>& lease) {
        if (lease) drain_sent_ = on;
    });
}

void RegistrySession::leave() {
    leaving_ = true;
    if (!enrolled_) return;
    const Result<SignedText> last = entry(ZoneStanding::kLeft);
    if (!last) return;
    transport_.publish(config_.registry, *last, [this](const Result<ZoneLease>&) {
        transport_.leave(config_.registry, config_.name(), [](const Result<ZoneLease>&) {});
    });
}

}  // namespace zbs
