#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace zbs {

/// An enumeration whose values have words. They stand beside it, in the order of its enumerators, which count from 0:
///
///     enum class PartState { kHeld, kRunning };
///     constexpr auto words_of(PartState) { return std::array{"held", "running"}; }
///
/// An enumeration outside this namespace adds `using zbs::to_string;` to its own.
template <class Enum>
concept HasWords = requires(Enum value) {
    words_of(value);
};

namespace detail {

/// The compiler writes a value without a name as "(Enum)7".
template <auto kValue>
constexpr bool is_enumerator() {
    const std::string_view name = __PRETTY_FUNCTION__;
    const char after = name[name.rfind(')') + 1];
    return after < '0' || after > '9';
}

template <HasWords Enum>
constexpr auto checked_words() {
    constexpr auto kWords = words_of(Enum{});
    static_assert(is_enumerator<static_cast<Enum>(kWords.size() - 1)>(), "more words than enumerators");
    static_assert(!is_enumerator<static_cast<Enum>(kWords.size())>(), "an enumerator without a word");
    return kWords;
}

}  // namespace detail

/// All values, in their order.
template <HasWords Enum>
inline constexpr auto kAll = [] {
    std::array<Enum, words_of(Enum{}).size()> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Enum>(i);
    return all;
}();

/// The word of a value, e.g. "held".
template <HasWords Enum>
constexpr const char* to_string(Enum value) {
    constexpr auto kWords = detail::checked_words<Enum>();
    const auto index = static_cast<std::size_t>(value);
    return index < kWords.size() ? kWords[index] : "?";
}

/// The value whose word this is; none where it is none's.
template <HasWords Enum>
constexpr std::optional<Enum> find_word(std::string_view word) {
    for (const Enum value : kAll<Enum>)
        if (word == to_string(value)) return value;
    return std::nullopt;
}

}  // namespace zbs
