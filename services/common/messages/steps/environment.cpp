#include "services/common/messages/steps/environment.hpp"

#include <algorithm>
#include <array>

namespace zbs {

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
