#include "client/calls/event_stream.hpp"

namespace zbs::client {

std::vector<ServerEvent> EventStream::take(std::string_view piece) {
    for (const char c : piece) {
        const bool second_of_two = std::exchange(after_return_, c == '\r') && c == '\n';
        if (second_of_two) continue;
        if (c == '\n' || c == '\r') {
            take_line();
            line_.clear();
        } else if (line_.size() < kMaxLine) {
            line_ += c;
        }
    }
    return std::exchange(ready_, {});
}

void EventStream::take_line() {
    if (line_.empty()) {  // the end of an event
        last_id_ = next_id_;
        if (std::exchange(has_data_, false)) ready_.push_back({last_id_, std::exchange(data_, {})});
        return;
    }
    const std::string_view line = line_;
    const std::size_t colon = line.find(':');
    const std::string_view field = line.substr(0, colon);
    std::string_view value = colon == std::string_view::npos ? std::string_view{} : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (field == "id" && value.find('\0') == std::string_view::npos) next_id_ = value;
    if (field != "data") return;
    if (std::exchange(has_data_, true)) data_ += '\n';
    if (data_.size() + value.size() <= kMaxLine) data_ += value;
}

}  // namespace zbs::client
