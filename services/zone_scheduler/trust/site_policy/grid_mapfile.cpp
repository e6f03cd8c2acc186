#include "services/zone_scheduler/trust/site_policy/grid_mapfile.hpp"

#include <algorithm>

#include "services/common/messages/limits.hpp"
#include "services/common/messages/names/identity.hpp"
#include "services/common/messages/text/printable.hpp"

namespace zbs {
namespace {

constexpr std::string_view kBlanks = " \t";

/// As it may stand in a message.
std::string printed(std::string_view word) { return "'" + printable_text(word, 200) + "'"; }

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

class GridMapfileReader {
  public:
    explicit GridMapfileReader(std::string_view file) : file_(file) {}

    Result<std::map<std::string, std::string>> read(std::string_view text) {
        if (text.size() > limits::kMaxGridMapBytes) {
            line_ = 1;
            return too_large("the grid-mapfile is longer than " + std::to_string(limits::kMaxGridMapBytes) + " bytes");
        }
        while (!text.empty()) {
            ++line_;
            const std::size_t end = std::min(text.find('\n'), text.size());
            std::string_view line = text.substr(0, end);
            text.remove_prefix(std::min(end + 1, text.size()));
            if (line.ends_with('\r')) line.remove_suffix(1);
            line = trimmed(line);
            if (line.empty() || line.front() == '#') continue;
            if (auto ok = read_line(line); !ok) return ok.error();
        }
        std::map<std::string, std::string> subjects;
        for (auto& [subject, user] : users_) subjects.emplace(subject, std::move(user.name));
        return subjects;
    }

  private:
    struct User {
        std::string name;
        int line;
    };

    Error fault(std::string message) const { return invalid(std::move(message), where()); }
    Error too_large(std::string message) const { return {ErrorCode::kTooLarge, std::move(message), where()}; }
    std::string where() const { return std::string(file_) + ":" + std::to_string(line_); }

    Result<void> read_line(std::string_view line) {
        Result<std::string> subject = line.front() == '"' ? take_quoted(line) : take_word(line);
        if (!subject) return subject.error();
        if (subject->size() > limits::kMaxSubjectBytes)
            return too_large("the subject is longer than " + std::to_string(limits::kMaxSubjectBytes) + " bytes");
        if (subject->find('=') == std::string::npos || std::ranges::any_of(*subject, is_control))
            return fault(printed(*subject) + " is no subject of a certificate; write \"/O=Grid/CN=Ana\" ana");
        const std::string_view name = trimmed(line.substr(0, line.find('#')));
        if (name.find(',') != std::string_view::npos)
            return fault("gives " + printed(*subject) + " several names; here a subject is one user: keep one of them");
        if (name.starts_with('.'))
            return fault("pool " + printed(name) + " is no user; pools of accounts stand in the account map");
        if (!is_valid_name(name))
            return fault(printed(name) +
                         " is no user name (1 to 64 of a-z 0-9 . _ -, starting with a letter or digit)");
        if (users_.size() >= limits::kMaxSubjectMapEntries)
            return too_large("more than " + std::to_string(limits::kMaxSubjectMapEntries) + " subjects");
        const auto [known, fresh] = users_.try_emplace(*std::move(subject), User{std::string(name), line_});
        if (!fresh && known->second.name != name) {
            return fault("gives " + printed(known->first) + " the name '" + std::string(name) + "', line " +
                         std::to_string(known->second.line) + " gives '" + known->second.name +
                         "'; a subject is one user: take one of the lines out");
        }
        return {};
    }

    Result<std::string> take_quoted(std::string_view& line) const {
        std::string subject;
        for (std::size_t i = 1; i < line.size(); ++i) {
            if (line[i] == '"') {
                line.remove_prefix(i + 1);
                if (!line.empty() && kBlanks.find(line.front()) == std::string_view::npos)
                    return fault("needs a blank between the subject and the name");
                return subject;
            }
            const bool escapes = line[i] == '\\' && i + 1 < line.size() && (line[i + 1] == '"' || line[i + 1] == '\\');
            if (escapes) ++i;
            subject += line[i];
        }
        return fault("has a quote that does not end; write \"SUBJECT\" NAME");
    }

    static Result<std::string> take_word(std::string_view& line) {
        const std::size_t end = std::min(line.find_first_of(kBlanks), line.size());
        std::string subject(line.substr(0, end));
        line.remove_prefix(end);
        return subject;
    }

    std::string_view file_;
    int line_ = 0;
    std::map<std::string, User> users_;  ///< by subject
};

}  // namespace

Result<std::map<std::string, std::string>> parse_grid_mapfile(std::string_view text, std::string_view file) {
    return GridMapfileReader(file).read(text);
}

}  // namespace zbs
