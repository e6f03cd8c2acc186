#include "services/common/http/parameters.hpp"

#include <algorithm>

#include "algorithms/base/text.hpp"
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

}  // namespace zbs::http
