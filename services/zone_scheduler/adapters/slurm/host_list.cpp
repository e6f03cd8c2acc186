#include "services/zone_scheduler/adapters/slurm/host_list.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "services/common/messages/limits.hpp"
#include "services/common/messages/text/printable.hpp"

namespace zbs::slurm {
namespace {

constexpr std::size_t kMaxNumberDigits = 9;
constexpr std::size_t kMaxNodeName = 253;

bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
}

Error bad_list(std::string_view text, std::size_t at) {
    return invalid("not a list of nodes as Slurm writes them: fault at byte " + std::to_string(at) + " of \"" +
                   printable_text(text, 120) + "\"");
}
Error too_many() {
    return {ErrorCode::kTooLarge, "a list of more than " + std::to_string(limits::kMaxSlurmNodes) + " nodes", {}};
}

/// One number of a range, with its leading zeros.
struct Number {
    std::uint32_t value = 0;
    std::size_t digits = 0;
};

class HostListReader {
  public:
    explicit HostListReader(std::string_view text) : text_(text) {}

    Result<std::vector<std::string>> read() {
        std::vector<std::string> names;
        while (true) {
            Result<std::vector<std::string>> item = read_item();
            if (!item) return item;
            if (names.size() + item->size() > limits::kMaxSlurmNodes) return too_many();
            names.insert(names.end(), item->begin(), item->end());
            if (at_ == text_.size()) return names;
            ++at_;  // the comma
        }
    }

  private:
    bool at(char c) const { return at_ < text_.size() && text_[at_] == c; }

    /// Up to a comma that is in no brackets, or the end.
    Result<std::vector<std::string>> read_item() {
        std::vector<std::string> made = {""};
        const std::size_t begin = at_;
        while (at_ < text_.size() && text_[at_] != ',') {
            if (text_[at_] == '[') {
                ++at_;
                Result<std::vector<std::string>> numbers = read_numbers();
                if (!numbers) return numbers;
                if (made.size() * numbers->size() > limits::kMaxSlurmNodes) return too_many();
                std::vector<std::string> longer;
                longer.reserve(made.size() * numbers->size());
                for (const std::string& head : made)
                    for (const std::string& number : *numbers) longer.push_back(head + number);
                made = std::move(longer);
            } else if (is_name_character(text_[at_])) {
                for (std::string& name : made) name += text_[at_];
                ++at_;
            } else {
                return bad_list(text_, at_);
            }
            if (made.front().size() > kMaxNodeName) return bad_list(text_, at_);
        }
        if (at_ == begin ||
            !std::all_of(made.begin(), made.end(), [](const std::string& n) { return is_node_name(n); }))
            return bad_list(text_, begin);
        return made;
    }

    /// Behind '[' up to and with ']'.
    Result<std::vector<std::string>> read_numbers() {
        std::vector<std::string> numbers;
        while (true) {
            Number first, last;
            if (!read_number(first)) return bad_list(text_, at_);
            last = first;
            if (at('-')) {
                ++at_;
                if (!read_number(last) || last.value < first.value) return bad_list(text_, at_);
            }
            if (numbers.size() + (last.value - first.value) + 1 > limits::kMaxSlurmNodes) return too_many();
            for (std::uint32_t n = first.value; n <= last.value; ++n) {
                std::string digits = std::to_string(n);
                if (digits.size() < first.digits) digits.insert(0, first.digits - digits.size(), '0');
                numbers.push_back(std::move(digits));
            }
            if (!at(',') && !at(']')) return bad_list(text_, at_);
            if (text_[at_++] == ']') return numbers;
        }
    }

    bool read_number(Number& number) {
        const std::size_t begin = at_;
        while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
        number.digits = at_ - begin;
        if (number.digits == 0 || number.digits > kMaxNumberDigits) return false;
        std::from_chars(text_.data() + begin, text_.data() + at_, number.value);
        return true;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

bool is_node_name(std::string_view name) {
    return !name.empty() && name.size() <= kMaxNodeName && name.front() != '-' && name.front() != '.' &&
           std::all_of(name.begin(), name.end(), is_name_character);
}

Result<std::vector<std::string>> parse_host_list(std::string_view text) {
    if (text.empty() || text == "(null)" || text == "None") return std::vector<std::string>{};
    if (text.size() > limits::kMaxSlurmListBytes)
        return Error{ErrorCode::kTooLarge,
                     "a list of nodes of more than " + std::to_string(limits::kMaxSlurmListBytes) + " bytes",
                     {}};
    return HostListReader(text).read();
}

std::string write_host_list(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
    return text;
}

}  // namespace zbs::slurm
