#include "services/common/http/decision_log.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "services/common/codec/records/audit_codec.hpp"

namespace zbs::http {
namespace {

constexpr Duration kFlushEvery = std::chrono::milliseconds{50};
constexpr std::size_t kNamedInSummary = 5;
constexpr const char* kOthers = "others";

/// What the audit log calls the object.
std::string name_of_object(const Call& call) {
    std::string name = call.path;
    if (const auto subject = call.query.find("subject"); subject != call.query.end())
        name += "?subject=" + subject->second;
    return name;
}

std::string meaning_of(const Call& call) {
    constexpr std::size_t kMaxRead = 64 * 1024;
    if (call.body.empty() || call.body.size() > kMaxRead) return {};
    const Result<codec::Json> json = codec::parse(call.body);
    return json ? codec::audited_fields(*json) : std::string{};
}

std::string joined(std::string first, const std::string& second) {
    if (!first.empty() && !second.empty()) first += "; ";
    return first + second;
}

}  // namespace

bool changes_something(Action action, const Call& call) {
    return call.method != "GET" && call.method != "HEAD" && action != Action::kAskCapacity;
}

/// Writes down what is kept back in a moment; one timer for all that comes until then, none while nothing does.
void DecisionLog::flush_soon() {
    if (std::exchange(flush_is_due_, true)) return;
    clock_.after(kFlushEvery, [this] { flush(); });
}

void DecisionLog::flush() {
    flush_is_due_ = false;
    begin_second();
    const Result<void> flushed = audit_.flush();
    if (!flushed) log_.warn("audit_failed", {{"reason", flushed.error().message}});
    // The number of entries left out is recorded when their second is over.
    if (!flushed || organisations_.all.left_out + addresses_.all.left_out > 0) flush_soon();
}

Result<void> DecisionLog::record(Action action, const Call& call, const char* decision, const std::string& detail,
                                 AuditUrgency urgency) {
    return audit_.append({.at = clock_.now(),
                          .who = to_uri(call.caller()),
                          .action = std::string(to_string(action)),
                          .object = name_of_object(call),
                          .decision = decision,
                          .request_id = call.request_id,
                          .detail = joined(joined(call.address.empty() ? "" : "from " + call.address,
                                                  call.trace.id.empty() ? "" : "trace " + call.trace.id),
                                           detail)},
                         urgency);
}

/// Counts anew with each second, and records how many entries the one before left out, also after the refusals end.
void DecisionLog::begin_second() {
    const Duration second = std::chrono::floor<std::chrono::seconds>(clock_.steady_now());
    if (second == second_) return;
    const int left_out = organisations_.all.left_out + addresses_.all.left_out;
    std::vector<std::pair<int, std::string>> counts;
    for (const auto& [kind, counted] : {std::pair{"organisation ", &organisations_}, {"address ", &addresses_}}) {
        for (const auto& [name, count] : counted->by_name) {
            if (count.left_out > 0) counts.emplace_back(count.left_out, kind + name);
        }
    }
    second_ = second;
    organisations_ = addresses_ = {};
    if (left_out == 0) return;
    std::sort(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    std::string detail = std::to_string(left_out) + " refusals of one second are not on record:";
    for (std::size_t i = 0; i < std::min(counts.size(), kNamedInSummary); ++i)
        detail += (i == 0 ? " " : ", ") + std::to_string(counts[i].first) + " of " + counts[i].second;
    if (counts.size() > kNamedInSummary)
        detail += ", and of " + std::to_string(counts.size() - kNamedInSummary) + " more";
    log_.warn("refusals_not_recorded", {{"count", std::to_string(left_out)}, {"whose", detail}});
    const AuditEntry entry{
        .at = clock_.now(), .who = self_, .action = "countRefusals", .decision = "not_recorded", .detail = detail};
    if (auto kept = audit_.append(entry, AuditUrgency::kSoon); !kept)
        log_.warn("audit_failed", {{"reason", kept.error().message}});
}

/// True where one more may be recorded of this party; else it is counted as left out.
bool DecisionLog::take(CallerCounts& counts, const std::string& name, int each, int together) {
    const bool is_listed = counts.by_name.contains(name) || counts.by_name.size() < kMaxCounted;
    Count& party = counts.by_name[is_listed ? name : kOthers];
    const bool fits = party.recorded < each && counts.all.recorded < together;
    for (Count* count : {&party, &counts.all}) ++(fits ? count->recorded : count->left_out);
    return fits;
}

void DecisionLog::refuse(Action action, const Call& call, const char* decision, const std::string& detail) {
    begin_second();
    flush_soon();
    const bool named = call.peer.evidence() != Evidence::kNone;
    const bool taken = named ? take(organisations_, call.caller().organisation, kPerOrganisation, kAllOrganisations)
                             : take(addresses_, call.address, kPerAddress, kAllAddresses);
    if (!taken) return;
    if (auto kept = record(action, call, decision, detail, AuditUrgency::kSoon); !kept)
        log_.warn("audit_failed", {{"reason", kept.error().message}});
}

Result<void> DecisionLog::allow(Action action, const Call& call) {
    if (!changes_something(action, call)) return {};
    const AuditUrgency urgency = record_waits_ ? AuditUrgency::kWithWrites : AuditUrgency::kNow;
    if (record_waits_) record_waits_();
    if (auto kept = record(action, call, "allow", meaning_of(call), urgency); !kept)
        return Error{ErrorCode::kUnavailable, "this cannot be put on record now, so it is not done; try again", {}};
    return {};
}

void DecisionLog::done(Action action, const Call& call, int status) {
    if (status < 400 || !changes_something(action, call)) return;
    refuse(action, call, "failed", "status " + std::to_string(status));
}

}  // namespace zbs::http
