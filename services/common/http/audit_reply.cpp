#include "services/common/http/audit_reply.hpp"

#include "services/common/codec/records/audit_codec.hpp"
#include "services/common/http/parameters.hpp"
#include "services/common/http/reply.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::http {

Reply audit_reply(const Call& call, AuditLog& audit) {
    constexpr std::uint64_t kRows = 100;
    if (auto good = check_parameters(call, {"after", "limit"}); !good) return problem(good.error());
    const Result<std::uint64_t> after = number_parameter(call, "after", 0);
    if (!after) return problem(after.error());
    const Result<std::uint64_t> limit = number_parameter(call, "limit", kRows);
    if (!limit) return problem(limit.error());
    if (*after >= static_cast<std::uint64_t>(INT64_MAX)) return problem(invalid("is no number of an entry", "after"));
    if (*limit < 1 || *limit > limits::kMaxAuditRows)
        return problem(invalid("must be from 1 to " + std::to_string(limits::kMaxAuditRows), "limit"));
    auto records = audit.read(*after + 1, *limit);
    if (!records) return problem(records.error());
    codec::AuditPage page{*std::move(records), audit.head(), 0};
    if (!page.records.empty() && page.records.back().number < page.head.entries) page.next = page.records.back().number;
    return ok(codec::encode(page));
}

}  // namespace zbs::http
