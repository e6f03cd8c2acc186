#pragma once
#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

namespace zbs {

/// A 128-bit id: 48 bits of milliseconds since the Unix epoch, 48 random bits, then a mark of its owner in 32; written
/// as 26 characters of Crockford base 32 in upper case (the ULID text form), so text order is time order.
struct Id128 {
    std::array<std::uint8_t, 16> bytes{};
    auto operator<=>(const Id128&) const = default;
};
std::string to_string(const Id128& id);
/// Reads exactly 26 characters (lower case accepted); nothing where the text is no such id.
std::optional<Id128> parse_id128(std::string_view text);
/// The id made of `unix_ms` and the lowest 80 bits of (`high`, `low`).
Id128 make_id128(std::int64_t unix_ms, std::uint64_t high, std::uint64_t low);

/// Distinct id types over one representation: `StrongId<struct PartTag>` never converts to another id.
template <class Tag>
struct StrongId {
    Id128 value;
    auto operator<=>(const StrongId&) const = default;
};
template <class Tag>
std::string to_string(const StrongId<Tag>& id) {
    return to_string(id.value);
}
template <class Tag>
std::ostream& operator<<(std::ostream& out, const StrongId<Tag>& id) {
    return out << to_string(id.value);
}

using ApplicationId = StrongId<struct ApplicationTag>;  ///< one submitted run of a program; the client makes it
using PartId = StrongId<struct PartTag>;                ///< the share of an application that one zone holds
using DelegationId = StrongId<struct DelegationTag>;    ///< one right that a user handed to her home zone
using ProfileId = StrongId<struct ProfileTag>;          ///< one stored profile of a run

}  // namespace zbs

template <class Tag>
struct std::hash<zbs::StrongId<Tag>> {
    std::size_t operator()(const zbs::StrongId<Tag>& id) const noexcept {
        std::size_t h = 1469598103934665603ULL;
        for (const std::uint8_t byte : id.value.bytes) h = (h ^ byte) * 1099511628211ULL;
        return h;
    }
};
