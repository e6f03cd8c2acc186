#include "services/common/http/parameters.hpp"

#include <algorithm>

#include "algorithms/base/text.hpp"
#include "services/common/codec/records/audit_codec.hpp"
#include "services/common/http/reply.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/text/checksum.hpp"

namespace zbs::http {

Result<void> check_parameters(const Call& call, std::initializer_list<const char*> known) {
    for (const auto& [key, value] : call.query) {
        if (std::none_of(known.begin(), known.end(), [&name = key](const char* k) { return name == k; }))
            return invalid("is not a parameter of this call", key);
    }
    return {};
}

Result<std::uint64_t> number_parameter(const Call& call, const char* name, std::uint64_t fallback) {
    const auto at = call.query.find(name);
    if (at == call.query.end()) return fallback;
    if (const auto value = parse_number<std::uint64_t>(at->second)) return *value;
    return invalid("must be a whole number >= 0", name);
}

Result<std::string> digest_parameter(const Call& call) {
    const std::string& digest = call.parameters.at("digest");
    if (is_checksum(digest)) return digest;
    return invalid("must be 64 hexadecimal digits in small letters (SHA-256)", "digest");
}

std::string text_parameter(const Call& call, const char* name, const char* fallback) {
    const auto at = call.query.find(name);
    return at == call.query.end() ? fallback : at->second;
}

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
