#include "services/common/http/parameters.hpp"

#include <algorithm>
#include <charconv>

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
    std::uint64_t value = 0;
    const auto read = std::from_chars(at->second.data(), at->second.data() + at->second.size(), value);
    if (read.ec != std::errc{} || read.ptr != at->second.data() + at->second.size())
        return invalid("must be a whole number >= 0", name);
    return value;
}

std::string text_parameter(const Call& call, const char* name, const char* fallback) {
    const auto at = call.query.find(name);
    return at == call.query.end() ? fallback : at->second;
}

}  // namespace zbs::http
