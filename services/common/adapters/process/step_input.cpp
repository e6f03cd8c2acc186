#include "services/common/adapters/process/step_input.hpp"

#include <cstdint>
#include <cstring>

#include "services/common/adapters/process/job_folder.hpp"

namespace zbs::process {
namespace {

constexpr char kVariable = 'E';
constexpr char kFile = 'F';

// One record: kind, two lengths of 8 bytes in this host's order, two texts.
void append_record(std::string& out, char kind, const std::pair<std::string, std::string>& record) {
    out += kind;
    for (const std::string* text : {&record.first, &record.second}) {
        const std::uint64_t size = text->size();
        out.append(reinterpret_cast<const char*>(&size), sizeof size);
    }
    out += record.first;
    out += record.second;
}

}  // namespace

std::string find_fault(const StepInput& input) {
    for (const auto& [name, value] : input.environment) {
        if (name.empty() || name.find('=') != std::string::npos || name.find('\0') != std::string::npos)
            return "'" + name.substr(0, 64) + "' is no name of an environment variable";
        if (value.find('\0') != std::string::npos) return "environment variable " + name.substr(0, 64) + " holds a NUL";
    }
    for (const auto& [name, text] : input.files) {
        if (!is_plain_name(name)) return "'" + name.substr(0, 64) + "' is no plain name of a file";
    }
    return {};
}

std::string encode(const StepInput& input) {
    std::string out;
    for (const auto& variable : input.environment) append_record(out, kVariable, variable);
    for (const auto& file : input.files) append_record(out, kFile, file);
    return out;
}

std::optional<StepInput> decode_step_input(std::string_view text) {
    StepInput input;
    while (!text.empty()) {
        const char kind = text[0];
        std::uint64_t sizes[2];
        if ((kind != kVariable && kind != kFile) || text.size() < 1 + sizeof sizes) return std::nullopt;
        std::memcpy(sizes, text.data() + 1, sizeof sizes);
        text.remove_prefix(1 + sizeof sizes);
        if (sizes[0] > text.size() || sizes[1] > text.size() - sizes[0]) return std::nullopt;
        auto& records = kind == kVariable ? input.environment : input.files;
        records.emplace_back(std::string(text.substr(0, sizes[0])), std::string(text.substr(sizes[0], sizes[1])));
        text.remove_prefix(sizes[0] + sizes[1]);
    }
    if (!find_fault(input).empty()) return std::nullopt;
    return input;
}

}  // namespace zbs::process
