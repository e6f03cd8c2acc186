// The record of decisions, for the operators of the zone's organisation.
#include <algorithm>

#include "services/common/codec/audit_codec.hpp"
#include "services/common/http/parameters.hpp"
#include "services/common/messages/limits.hpp"
#include "services/zone_scheduler/http/zone_routes.hpp"

namespace zbs {

http::Reply audit_reply(const http::Call& call, AuditLog& audit) {
    constexpr std::uint64_t kRows = 100;
    if (auto good = http::check_parameters(call, {"after", "limit"}); !good) return http::problem(good.error());
    const Result<std::uint64_t> after = http::number_parameter(call, "after", 0);
    if (!after) return http::problem(after.error());
    const Result<std::uint64_t> limit = http::number_parameter(call, "limit", kRows);
    if (!limit) return http::problem(limit.error());
    if (*after >= static_cast<std::uint64_t>(INT64_MAX))
        return http::problem(invalid("is no number of an entry", "after"));
    if (*limit < 1 || *limit > limits::kMaxAuditRows)
        return http::problem(invalid("must be from 1 to " + std::to_string(limits::kMaxAuditRows), "limit"));
    auto records = audit.read(*after + 1, *limit);
    if (!records) return http::problem(records.error());
    codec::AuditPage page{*std::move(records), audit.head(), 0};
    if (!page.records.empty() && page.records.back().number < page.head.entries) page.next = page.records.back().number;
    return http::ok(codec::encode(page));
}

}  // namespace zbs
