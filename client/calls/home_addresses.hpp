#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace zbs::client {

/// Where a zone can be called: one address, or those of all its schedulers, of which one is active. Knows no network.
class HomeAddresses {
  public:
    /// Addresses with commas between them; spaces around them do not count. An empty one stays, and is refused as any
    /// that is no address.
    explicit HomeAddresses(std::string_view list);
    /// The one to call; empty where the list was.
    const std::string& current() const { return urls_[at_]; }
    /// The current one does not answer, or stands by: the next is the current one, behind the last the first again.
    void turn() { at_ = (at_ + 1) % urls_.size(); }
    /// In the order in which they are tried; one that is empty where the list was.
    const std::vector<std::string>& all() const { return urls_; }
    bool has_several() const { return urls_.size() > 1; }

  private:
    std::vector<std::string> urls_;
    std::size_t at_ = 0;
};

}  // namespace zbs::client
