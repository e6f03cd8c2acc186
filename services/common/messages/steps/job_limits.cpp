#include "services/common/messages/steps/job_limits.hpp"

#include <algorithm>

#include "algorithms/base/text.hpp"

namespace zbs {
namespace {

std::optional<std::uint64_t> read_size(std::string_view text) {
    constexpr std::string_view kUnits = "KMG";
    int shift = 0;
    if (const std::size_t unit = text.empty() ? std::string_view::npos : kUnits.find(text.back());
        unit != std::string_view::npos) {
        shift = 10 * (static_cast<int>(unit) + 1);
        text.remove_suffix(1);
    }
    const auto value = parse_number<std::uint64_t>(text);
    if (!value || *value > (UINT64_MAX >> 1 >> shift)) return std::nullopt;
    return *value << shift;
}

}  // namespace

const std::vector<std::string>& job_limit_names() {
    static const std::vector<std::string> names = {"as",      "core",   "cpu",   "data", "fsize",
                                                   "memlock", "nofile", "nproc", "rss",  "stack"};
    return names;
}

Result<unsigned> parse_umask(std::string_view text) {
    const auto mask = parse_number<unsigned>(text, 8);
    if (!mask || *mask > 0777) return invalid("must be octal, 0 to 777, as 027");
    return *mask;
}

Result<std::vector<JobLimit>> parse_job_limits(std::string_view text) {
    std::vector<JobLimit> limits;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(','), text.size());
        const std::string_view word = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t equals = std::min(word.find('='), word.size());
        JobLimit limit{.name = std::string(word.substr(0, equals)), .value = {}};
        const std::string_view value = word.substr(std::min(equals + 1, word.size()));
        if (value != "unlimited") limit.value = read_size(value);
        const auto& names = job_limit_names();
        if (std::ranges::find(names, limit.name) == names.end() || (value != "unlimited" && !limit.value))
            return invalid(
                "'" + std::string(word) +
                "' must be NAME=NUMBER, with K, M or G behind it, or NAME=unlimited; names: " + joined(names, ", "));
        limits.push_back(std::move(limit));
    }
    return limits;
}

}  // namespace zbs
