#include "client/calls/home_addresses.hpp"

#include <algorithm>

namespace zbs::client {

HomeAddresses::HomeAddresses(std::string_view list) {
    for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        std::string_view url = list.substr(begin, end - begin);
        begin = end + 1;
        while (url.starts_with(' ')) url.remove_prefix(1);
        while (url.ends_with(' ')) url.remove_suffix(1);
        urls_.emplace_back(url);
    }
}

}  // namespace zbs::client
