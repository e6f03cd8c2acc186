#include "client/cli/request_options.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace zbs::cli {
namespace {

using FieldOption = std::pair<std::string_view, const char*>;
constexpr std::array kFieldOptions = {FieldOption{"id", "--id"},
                                      FieldOption{"name", "--name"},
                                      FieldOption{"ranks", "-n"},
                                      FieldOption{"directory", "--chdir"},
                                      FieldOption{"walltime_s", "--walltime"},
                                      FieldOption{"grace_s", "--grace"},
                                      FieldOption{"model", "--profile"},
                                      FieldOption{"mapper", "--mapper"},
                                      FieldOption{"seed", "--seed"},
                                      FieldOption{"zones", "--zones"},
                                      FieldOption{"launcher", "--launcher"},
                                      FieldOption{"priority", "--priority"},
                                      FieldOption{"share", "--share"},
                                      FieldOption{"overcommit", "--overcommit"},
                                      FieldOption{"environment", "--env"},
                                      FieldOption{"argv", "program"},
                                      FieldOption{"staging/inputs", "--stage-in"},
                                      FieldOption{"staging/program", "--stage-in"},
                                      FieldOption{"staging/results", "--stage-out"}};

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
