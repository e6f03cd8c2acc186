#include "client/calls/home_addresses.hpp"

#include <algorithm>

namespace zbs::client {

HomeAddresses::HomeAddresses(std::string_view list) {
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(','), list.size());
        std::string_view url = list.substr(0, end);
        list.remove_prefix(std::min(end + 1, list.size()));
        while (url.starts_with(' ')) url.remove_prefix(1);
        while (url.ends_with(' ')) url.remove_suffix(1);
        if (!url.empty()) urls_.emplace_back(url);
    }
    if (urls_.empty()) urls_.emplace_back();
}

}  // namespace zbs::client
