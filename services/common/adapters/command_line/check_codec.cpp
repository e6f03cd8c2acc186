#include "services/common/adapters/command_line/check_codec.hpp"

namespace zbs::command_line {

using codec::Json;

Json encode(const Check& check) {
    return {
        {"check", check.name}, {"verdict", to_string(check.verdict)}, {"found", check.found}, {"remedy", check.remedy}};
}

Json document_of(const std::vector<Check>& checks) {
    Json items = Json::array();
    for (const Check& check : checks) items.push_back(encode(check));
    return {{"verdict", to_string(worst_of(checks))}, {"checks", items}};
}

}  // namespace zbs::command_line
