#include "services/zone_scheduler/program/standby.hpp"

#include <algorithm>
#include <utility>

#include "services/common/adapters/beast/service_loop.hpp"
#include "services/common/codec/service_codec.hpp"
#include "services/common/http/reply.hpp"

namespace zbs::zone_program {

Result<std::unique_ptr<Standby>> Standby::make(const ZoneSettings& settings, Log& log) {
    const DatabaseSettings& database = *settings.database;
    auto lease = postgresql::Lease::open(database_address(settings), {.node = database.node,
                                                                      .url = settings.zone.url,
                                                                      .length = DatabaseSettings::kLease,
                                                                      .renew_every = DatabaseSettings::kRenewEvery});
    if (!lease) return lease.error();
    return std::unique_ptr<Standby>(new Standby(*std::move(lease), settings.zone.zone.name, log));
}

void Standby::start(std::function<void(std::int64_t epoch)> taken, std::function<bool()> could_take_over) {
    beast::report_status("stands by");
    log_.info("standing_by", {{"zone", zone_}});
    lease_->start({.taken =
                       [this, taken = std::move(taken)](std::int64_t epoch) {
                           log_.info("lease_taken", {{"zone", zone_}, {"epoch", std::to_string(epoch)}});
                           taken(epoch);
                       },
                   .lost = [this](const Error& error) { end_at_once(log_, error, /*is_shared=*/true); },
                   .may_take = std::move(could_take_over)});
}

void Standby::record(const Result<void>& could_take_over) {
    const std::string fault = could_take_over ? std::string{} : http::text_with_place(could_take_over.error());
    const bool is_new = fault != std::exchange(fault_, fault);
    const bool was_without = is_zone_without();
    notes_without_ = !fault.empty() && lease_->is_left_to_others() ? notes_without_ + 1 : 0;
    if (is_new && fault.empty()) log_.info("could_take_over", {{"zone", zone_}});
    if (is_new && !fault.empty())
        log_.warn(
            "could_not_take_over",
            {{"reason", fault}, {"what_now", "mend it while another is active; until then this one stands aside"}});
    if (is_new || was_without != is_zone_without()) report_status();
    if (is_zone_without() && (is_new || (notes_without_ - kReportWithout) % kReportAgain == 0))
        log_.warn("zone_without_scheduler",
                  {{"zone", zone_},
                   {"reason", fault},
                   {"what_now",
                    "nobody is active, and this one cannot be: mend it, and it takes over by itself, or "
                    "start a scheduler of the zone on a host that can"}});
}

void Standby::report_status() const {
    beast::report_status(fault_.empty()      ? "stands by"
                         : is_zone_without() ? "NOBODY IS ACTIVE, and this one cannot take over: " + fault_
                                             : "stands by, but could not take over: " + fault_);
}

http::Reply Standby::answer(const http::Call& call, const std::string& id) const {
    const bool is_known = call.caller().kind != CallerKind::kAnonymous;
    if (call.path == "/livez") {
        codec::Health health{std::string(codec::Health::kStandby)};
        if (is_known && !fault_.empty())
            health.reason = fault_ + (is_zone_without() ? "; no scheduler of the zone is active" : "");
        http::Reply reply = http::ok(codec::encode(health));
        reply.headers.emplace_back("Zbs-Request-Id", id);
        return reply;
    }
    std::string words = "this scheduler of zone " + zone_ + " stands by";
    if (is_known) {
        const postgresql::LeaseView view = lease_->seen();
        const bool is_free = view.left <= Duration{0} || lease_->holds();
        words += is_free ? "; none is active" : "; active is " + to_string(view);
        words += fault_.empty() ? (is_free ? " yet, try again" : "") : "; it could not take over: " + fault_;
    }
    http::Reply reply = http::problem({ErrorCode::kUnavailable, words, {}});
    reply.headers.emplace_back("Zbs-Request-Id", id);
    return reply;
}

namespace {

/// What may have changed while another was active.
Result<void> read_again(ServiceHost& host, ZoneSettings& settings, const StateFolder& state,
                        const std::string& config_path) {
    Result<ZoneSettings> now = load_settings(config_path);
    if (!now) return now.error();
    if (auto named = name_grid_users(host.trust, settings.grid_users, now->grid_users); !named) return named;
    if (auto read = read_registry(state, now->zone, host.trust); !read) return read;
    now->zone.url = settings.zone.url;
    now->state_folder = settings.state_folder;
    now->database = settings.database;
    settings = *std::move(now);
    return host.keys ? host.reload_keys() : Result<void>{};
}

}  // namespace

Result<std::unique_ptr<ActiveZone>> take_over(ServiceHost& host, ZoneSettings& settings, const StateFolder& state,
                                              const WriteLease& write_lease, const std::string& config_path, Log& log) {
    if (auto read = read_again(host, settings, state, config_path); !read) return read.error();
    Result<Storage> storage = open_shared_storage(settings, state, log, write_lease);
    if (!storage) return storage.error();
    return ActiveZone::make(host, settings, state, *std::move(storage), config_path, log);
}

}  // namespace zbs::zone_program
