#include "services/common/messages/environment.hpp"

#include <algorithm>
#include <array>

namespace zbs {

bool is_set_by_shells(std::string_view name) {
    constexpr std::array<std::string_view, 7> kNames = {"IFS", "OLDPWD", "OPTIND", "PPID", "PWD", "SHLVL", "_"};
    return std::ranges::find(kNames, name) != kNames.end();
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
    return {};
}

}  // namespace zbs
