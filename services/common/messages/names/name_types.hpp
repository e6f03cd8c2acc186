#pragma once
#include <compare>
#include <concepts>
#include <cstddef>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zbs {

template <class Tag>
class Name;

template <class T>
inline constexpr bool kIsName = false;
template <class Tag>
inline constexpr bool kIsName<Name<Tag>> = true;

/// Text that claims to be no kind of name: a string, a view or a literal.
template <class T>
concept PlainText = !kIsName<T> && std::convertible_to<const T&, std::string_view>;

/// A name of one kind of thing. It reads as text everywhere and compares with text, but never becomes or compares with
/// a name of another kind. Text from outside becomes a name explicitly, after `is_valid_name`; nothing is checked here.
template <class Tag>
class Name {
  public:
    Name() = default;
    explicit Name(std::string text) : text_(std::move(text)) {}
    /// Literals convert, so that constants and tests need not name the type.
    template <std::size_t N>
    Name(const char (&literal)[N]) : text_(literal) {}
    template <class Other>
    explicit Name(const Name<Other>&) = delete;

    const std::string& str() const { return text_; }
    bool empty() const { return text_.empty(); }
    operator const std::string&() const { return text_; }
    operator std::string_view() const { return text_; }

    bool operator==(const Name&) const = default;
    auto operator<=>(const Name&) const = default;
    template <PlainText Text>
    friend bool operator==(const Name& name, const Text& text) {
        return std::string_view(name) == std::string_view(text);
    }
    template <PlainText Text>
    friend std::strong_ordering operator<=>(const Name& name, const Text& text) {
        return std::string_view(name) <=> std::string_view(text);
    }

    template <PlainText Text>
    friend std::string operator+(const Name& name, const Text& text) {
        return std::string(name.text_).append(std::string_view(text));
    }
    friend std::string operator+(std::string text, const Name& name) { return std::move(text.append(name.text_)); }
    friend std::ostream& operator<<(std::ostream& out, const Name& name) { return out << name.text_; }

  private:
    std::string text_;
};

using ZoneName = Name<struct ZoneTag>;
using OrganisationName = Name<struct OrganisationTag>;
using MachineName = Name<struct MachineTag>;  ///< a machine of a zone, unique within the zone
/// One process tree that an executor runs: 1 to 64 of A-Z a-z 0-9 -, chosen by its zone, stable over retries and
/// restarts. Messages and stored records call it `operation`.
using StepId = Name<struct StepTag>;
using AccountName = Name<struct AccountTag>;  ///< a local account of a host of a zone, as in its passwd database

/// Checked texts from outside as names.
template <class Kind>
std::vector<Kind> to_names(const std::vector<std::string>& texts) {
    return {texts.begin(), texts.end()};
}

}  // namespace zbs

template <class Tag>
struct std::hash<zbs::Name<Tag>> {
    std::size_t operator()(const zbs::Name<Tag>& name) const noexcept { return std::hash<std::string>{}(name.str()); }
};
