#include "services/common/http/decision_log.hpp"

#include "services/common/codec/json.hpp"

namespace zbs::http {
namespace {

constexpr Duration kFlushEvery = std::chrono::milliseconds{50};
constexpr int kRefusalsPerSecond = 50;

/// What the audit log calls the object.
std::string name_of_object(const Call& call) {
    std::string name = call.path;
    if (const auto subject = call.query.find("subject"); subject != call.query.end())
        name += "?subject=" + subject->second;
    return name;
}

/// What the audit log keeps of a request's body: the fields that say whom and what it is about, as they were sent.
/// Codes, keys and certificates are none of them.
std::string meaning_of(const Call& call) {
    constexpr std::size_t kMaxRead = 64 * 1024;
    constexpr const char* kFields[] = {"action", "name",        "subject", "organisation", "zone",
                                       "user",   "fingerprint", "home",    "application",  "reason"};
    if (call.body.empty() || call.body.size() > kMaxRead) return {};
    const Result<codec::Json> json = codec::parse(call.body);
    if (!json || !json->is_object()) return {};
    std::string meaning;
    for (const char* field : kFields) {
        const auto at = json->find(field);
        if (at == json->end() || !at->is_string()) continue;
        meaning += (meaning.empty() ? "" : ", ") + std::string(field) + " " + at->get<std::string>();
    }
    return meaning;
}

std::string joined(std::string first, const std::string& second) {
    if (!first.empty() && !second.empty()) first += "; ";
    return first + second;
}

}  // namespace

bool changes_something(const Call& call) { return call.method != "GET" && call.method != "HEAD"; }

void DecisionLog::start() { flush(); }

void DecisionLog::flush() {
    begin_second();
    if (auto flushed = audit_.flush(); !flushed) log_.warn("audit_failed", {{"reason", flushed.error().message}});
    clock_.after(kFlushEvery, [this] { flush(); });
}

Result<void> DecisionLog::record(Action action, const Call& call, const char* decision, const std::string& detail,
                                 AuditUrgency urgency) {
    return audit_.append({.at = clock_.now(),
                          .who = to_uri(call.caller()),
                          .action = std::string(to_string(action)),
                          .object = name_of_object(call),
                          .decision = decision,
                          .request_id = call.request_id,
                          .detail = joined(call.address.empty() ? "" : "from " + call.address, detail)},
                         urgency);
}

/// Counts anew with each second, and tells what the one before left out, also where nothing is refused any more.
void DecisionLog::begin_second() {
    const Duration second = std::chrono::floor<std::chrono::seconds>(clock_.steady_now());
    if (second == second_) return;
    if (refusals_left_ > 0) log_.warn("refusals_not_recorded", {{"count", std::to_string(refusals_left_)}});
    second_ = second;
    refusals_ = refusals_left_ = 0;
}

void DecisionLog::refuse(Action action, const Call& call, const char* decision, const std::string& detail) {
    begin_second();
    if (++refusals_ > kRefusalsPerSecond) {
        ++refusals_left_;
        return;
    }
    if (auto kept = record(action, call, decision, detail, AuditUrgency::kSoon); !kept)
        log_.warn("audit_failed", {{"reason", kept.error().message}});
}

Result<void> DecisionLog::allow(Action action, const Call& call) {
    if (!changes_something(call)) return {};
    if (auto kept = record(action, call, "allow", meaning_of(call), AuditUrgency::kNow); !kept)
        return Error{ErrorCode::kUnavailable, "this cannot be put on record now, so it is not done; try again", {}};
    return {};
}

void DecisionLog::done(Action action, const Call& call, int status) {
    if (status < 400 || !changes_something(call)) return;
    refuse(action, call, "failed", "status " + std::to_string(status));
}

}  // namespace zbs::http
