#include "client/cli/request_options.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace zbs::cli {
namespace {

using FieldOption = std::pair<std::string_view, const char*>;
constexpr std::array<FieldOption, 18> kFieldOptions = {{{"id", "--id"},
                                                        {"name", "--name"},
                                                        {"ranks", "-n"},
                                                        {"directory", "--chdir"},
                                                        {"walltime_s", "--walltime"},
                                                        {"grace_s", "--grace"},
                                                        {"model", "--profile"},
                                                        {"mapper", "--mapper"},
                                                        {"seed", "--seed"},
                                                        {"zones", "--zones"},
                                                        {"launcher", "--launcher"},
                                                        {"priority", "--priority"},
                                                        {"share", "--share"},
                                                        {"environment", "--env"},
                                                        {"argv", "program"},
                                                        {"staging/inputs", "--stage-in"},
                                                        {"staging/program", "--stage-in"},
                                                        {"staging/results", "--stage-out"}}};

}  // namespace

std::string option_of_field(std::string_view pointer) {
    if (!pointer.starts_with('/')) return std::string(pointer);
    const std::string_view field = pointer.substr(1);
    const auto is_at = [field](std::string_view name) {
        return field.starts_with(name) && (field.size() == name.size() || field[name.size()] == '/');
    };
    const auto found = std::ranges::find_if(kFieldOptions, is_at, &FieldOption::first);
    if (found == kFieldOptions.end()) return "field '" + std::string(field) + "' of the request";
    const std::string_view below = field.substr(std::min(found->first.size() + 1, field.size()));
    if (found->first == "environment" && !below.empty()) return "--env " + std::string(below);
    if (found->first == "argv" && !below.empty() && below != "0") return "argument " + std::string(below);
    return found->second;
}

}  // namespace zbs::cli
