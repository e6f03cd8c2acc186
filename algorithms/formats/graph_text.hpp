#pragma once
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "algorithms/formats/metis_graph.hpp"

/// What the readers of graphs share: lines without comments, and the numbers of a line.
namespace zbs::formats::graph_text {

inline bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Lines of the text without comments, which begin with '%' or '#'; counted from 1.
class Lines {
  public:
    explicit Lines(std::string_view text) : text_(text) {}

    bool next(std::string_view& line) {
        while (at_ < text_.size()) {
            const void* found = std::memchr(text_.data() + at_, '\n', text_.size() - at_);
            const std::size_t end =
                found ? static_cast<std::size_t>(static_cast<const char*>(found) - text_.data()) : text_.size();
            line = text_.substr(at_, end - at_);
            at_ = end + 1;
            ++number_;
            if (line.empty() || (line.front() != '%' && line.front() != '#')) return true;
        }
        return false;
    }
    std::uint32_t number() const { return number_; }

  private:
    std::string_view text_;
    std::size_t at_ = 0;
    std::uint32_t number_ = 0;
};

/// Numbers of one line.
class Fields {
  public:
    explicit Fields(std::string_view line) : at_(line.data()), end_(line.data() + line.size()) { skip(); }

    bool done() const { return at_ == end_; }
    /// The next field as it stands, for messages.
    std::string shown() const {
        const char* stop = at_;
        while (stop < end_ && !is_space(*stop) && stop - at_ < 40) ++stop;
        return "\"" + std::string(at_, stop) + "\"";
    }
    std::string_view word() {
        const char* first = at_;
        while (at_ < end_ && !is_space(*at_)) ++at_;
        const std::string_view found(first, static_cast<std::size_t>(at_ - first));
        skip();
        return found;
    }
    /// False, and nothing consumed, where the field is no whole number below 10^18.
    bool whole(std::uint64_t& value) {
        const char* p = at_;
        std::uint64_t sum = 0;
        while (p < end_ && is_digit(*p)) sum = sum * 10 + static_cast<std::uint64_t>(*p++ - '0');
        if (p == at_ || p - at_ > 18 || (p < end_ && !is_space(*p))) return false;
        value = sum;
        at_ = p;
        skip();
        return true;
    }
    /// False, and nothing consumed, where the field is no number from 0 to kMaxGraphWeight.
    bool weight(double& value) {
        std::uint64_t number = 0;
        const char* before = at_;
        if (whole(number)) {
            value = number > (1ULL << 53) ? -1 : static_cast<double>(number);
        } else {
            if (at_ == end_ || !(is_digit(*at_) || *at_ == '.')) return false;
            const auto [stop, status] = std::from_chars(at_, end_, value);
            if (status != std::errc() || (stop < end_ && !is_space(*stop))) return false;
            at_ = stop;
            skip();
        }
        if (value >= 0 && value <= kMaxGraphWeight) return true;
        at_ = before;
        return false;
    }

  private:
    void skip() {
        while (at_ < end_ && is_space(*at_)) ++at_;
    }
    const char* at_;
    const char* end_;
};

}  // namespace zbs::formats::graph_text
