#include "client/calls/home_addresses.hpp"

#include "algorithms/base/text.hpp"

namespace zbs::client {

HomeAddresses::HomeAddresses(std::string_view list) {
    for (std::string_view url : split(list, ',')) {
        while (url.starts_with(' ')) url.remove_prefix(1);
        while (url.ends_with(' ')) url.remove_suffix(1);
        urls_.emplace_back(url);
    }
}

}  // namespace zbs::client
