#include "services/common/messages/steps/job_limits.hpp"

#include <algorithm>
#include <array>

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

bool is_set_by_shells(std::string_view name) {
    constexpr std::array<std::string_view, 7> kNames = {"IFS", "OLDPWD", "OPTIND", "PPID", "PWD", "SHLVL", "_"};
    return std::ranges::find(kNames, name) != kNames.end();
}

bool is_set_by_zones(std::string_view name) {
    constexpr std::array<std::string_view, 10> kNames = {
        "ZBS_APPLICATION", "ZBS_CREDENTIALS", "ZBS_IDENTITY", "ZBS_OUTPUT", "ZBS_PROFILE_OUT",
        "ZBS_STAGED",      "ZBS_TOKEN",       "ZBS_URL",      "ZBS_ZONE",   "X509_USER_PROXY"};
    constexpr std::array<std::string_view, 19> kPrefixes = {
        "HYDRA_",       "HYDI_",         "MPIEXEC_",       "PMI_",         "PMIX_",
        "MPI_LOCAL",    "ZBS_STEP_",     "ZBS_RANK_",      "OMPI_COMM_",   "OMPI_APP_",
        "OMPI_FILE_",   "OMPI_UNIVERSE", "OMPI_MCA_orte",  "OMPI_MCA_ess", "OMPI_MCA_plm",
        "OMPI_MCA_ras", "OMPI_MCA_odls", "OMPI_MCA_rmaps", "ORTE_"};
    return std::ranges::find(kNames, name) != kNames.end() ||
           std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::string environment_name_fault(std::string_view name) {
    constexpr std::string_view kFirst = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_", kDigits = "0123456789";
    const auto is_part = [&](char c) {
        return kFirst.find(c) != std::string_view::npos || kDigits.find(c) != std::string_view::npos;
    };
    if (name.empty() || kFirst.find(name[0]) == std::string_view::npos || !std::ranges::all_of(name, is_part))
        return "is no name of letters, digits and '_' that begins with no digit; shells pass on no other variables";
    if (is_set_by_shells(name))
        return "is set by the shell that starts each rank, so the program would not get this value";
    if (is_set_by_zones(name))
        return "belongs to the zone and its MPI launcher, so the program would not get this value";
    return {};
}

}  // namespace zbs
