#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zbs::client {

/// One server-sent event [HTML, section 9.2]. What it has no line for is empty.
struct ServerEvent {
    std::string id;  ///< of this or an earlier event: where to go on
    std::string data;
    bool operator==(const ServerEvent&) const = default;
};

/// Takes a stream of server-sent events apart, however it is cut into pieces. Lines over kMaxLine are cut there: no
/// event of ours has any such.
class EventStream {
  public:
    static constexpr std::size_t kMaxLine = 64 * 1024;
    explicit EventStream(std::string last_id = {}) : last_id_(last_id), next_id_(std::move(last_id)) {}
    /// The events that are complete with this piece.
    std::vector<ServerEvent> take(std::string_view piece);
    const std::string& last_id() const { return last_id_; }

  private:
    void take_line();

    std::string line_, data_, last_id_, next_id_;
    bool has_data_ = false;
    bool after_return_ = false;  ///< the last byte was a carriage return
    std::vector<ServerEvent> ready_;
};

}  // namespace zbs::client
