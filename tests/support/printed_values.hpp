#pragma once
#include <gtest/gtest-printers.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <ostream>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

// GoogleTest prints types that it does not know as bytes when a comparison fails. zbs_test compiles every test with
// this header, which prints their values: by to_string if there is one, else enumerations as numbers, moments in time
// in microseconds, simple structures of at most 18 members member by member, views of arrays element by element, and
// some classes by what they give access to: graphs of tasks, trees of processors, identities.
// An operator<< or PrintTo of the type takes precedence.

namespace zbs::test::printed {

struct AnyMember {
    template <class T>
    operator T() const;  // NOLINT: whatever a member is
};

template <class T, std::size_t... I>
consteval bool takes(std::index_sequence<I...>) {
    return requires { T{(static_cast<void>(I), AnyMember{})...}; };
}
constexpr std::size_t kMax = 18;
/// Members of an aggregate, at most kMax + 1; 0 where there are none.
template <class T, std::size_t N = kMax + 1>
consteval std::size_t member_count() {
    if constexpr (N == 0) {
        return 0;
    } else if constexpr (takes<T>(std::make_index_sequence<N>{})) {
        return N;
    } else {
        return member_count<T, N - 1>();
    }
}

template <class T>
concept HasStream = requires(std::ostream& out, const T& value) {
    out << value;
};
template <class T>
concept HasPrintTo = requires(std::ostream* out, const T& value) {
    PrintTo(value, out);
};
template <class T>
concept IsRange = requires(const T& value) {
    value.begin();
};
template <class T>
concept HasName = requires(T value) {
    to_string(value);
};

template <class T>
concept Enumeration = std::is_enum_v<T> && !std::is_convertible_v<T, int> && !HasStream<T> && !HasPrintTo<T>;

template <class T>
concept Graph = requires(const T& value) {
    value.compute();
    value.edges();
};

template <class T>
concept Tree = requires(const T& value) {
    value.groups();
    value.speed(0);
};
template <class T>
concept Identity = requires(const T& value) {
    value.name();
    value.evidence();
    value.refusal();
};

template <class T>
concept Structure = std::is_class_v<T> && requires {
    sizeof(T);
} && std::is_aggregate_v<T> && std::is_copy_constructible_v<T> && !std::is_empty_v<T> && !HasStream<T> &&
    !HasPrintTo<T> && !IsRange<T> && !std::is_convertible_v<T, long long> && member_count<T>() > 0 &&
    member_count<T>() <= kMax;
template <class T>
auto members_of(const T& value) {
    constexpr std::size_t kCount = member_count<T>();
#define ZBS_MEMBERS(count, ...)            \
    if constexpr (kCount == (count)) {     \
        const auto& [__VA_ARGS__] = value; \
        return std::tie(__VA_ARGS__);      \
    }
    ZBS_MEMBERS(1, a)
    ZBS_MEMBERS(2, a, b)
    ZBS_MEMBERS(3, a, b, c)
    ZBS_MEMBERS(4, a, b, c, d)
    ZBS_MEMBERS(5, a, b, c, d, e)
    ZBS_MEMBERS(6, a, b, c, d, e, f)
    ZBS_MEMBERS(7, a, b, c, d, e, f, g)
    ZBS_MEMBERS(8, a, b, c, d, e, f, g, h)
    ZBS_MEMBERS(9, a, b, c, d, e, f, g, h, i)
    ZBS_MEMBERS(10, a, b, c, d, e, f, g, h, i, j)
    ZBS_MEMBERS(11, a, b, c, d, e, f, g, h, i, j, k)
    ZBS_MEMBERS(12, a, b, c, d, e, f, g, h, i, j, k, l)
    ZBS_MEMBERS(13, a, b, c, d, e, f, g, h, i, j, k, l, m)
    ZBS_MEMBERS(14, a, b, c, d, e, f, g, h, i, j, k, l, m, n)
    ZBS_MEMBERS(15, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
    ZBS_MEMBERS(16, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
    ZBS_MEMBERS(17, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q)
    ZBS_MEMBERS(18, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r)
#undef ZBS_MEMBERS
}

}  // namespace zbs::test::printed

namespace testing::internal {

template <zbs::test::printed::Enumeration T>
class UniversalPrinter<T> {
  public:
    static void Print(const T& value, std::ostream* out) {
        if constexpr (zbs::test::printed::HasName<T>) {
            *out << to_string(value);
        } else {
            *out << static_cast<long long>(value);
        }
    }
};

template <class Clock, class Duration>
class UniversalPrinter<std::chrono::time_point<Clock, Duration>> {
  public:
    static void Print(const std::chrono::time_point<Clock, Duration>& value, std::ostream* out) {
        *out << std::chrono::duration_cast<std::chrono::microseconds>(value.time_since_epoch()).count() << " us";
    }
};

template <zbs::test::printed::Structure T>
class UniversalPrinter<T> {
  public:
    static void Print(const T& value, std::ostream* out) {
        if constexpr (zbs::test::printed::HasName<T>) {
            *out << to_string(value);
            return;
        }
        *out << "{";
        std::apply(
            [out](const auto&... members) {
                const char* separator = "";
                ((*out << separator, UniversalPrint(members, out), separator = ", "), ...);
            },
            zbs::test::printed::members_of(value));
        *out << "}";
    }
};

template <zbs::test::printed::Graph T>
class UniversalPrinter<T> {
  public:
    static void Print(const T& value, std::ostream* out) {
        UniversalPrint(std::vector(value.compute().begin(), value.compute().end()), out);
        *out << " ";
        UniversalPrint(std::vector(value.edges().begin(), value.edges().end()), out);
    }
};

template <zbs::test::printed::Tree T>
class UniversalPrinter<T> {
  public:
    static void Print(const T& value, std::ostream* out) {
        std::vector<double> speeds;
        for (int p = 0; p < value.processor_count(); ++p) speeds.push_back(value.speed(p));
        UniversalPrint(std::vector(value.groups().begin(), value.groups().end()), out);
        *out << " ";
        UniversalPrint(speeds, out);
    }
};

template <zbs::test::printed::Identity T>
class UniversalPrinter<T> {
  public:
    static void Print(const T& value, std::ostream* out) {
        *out << value.name() << ", evidence ";
        UniversalPrint(value.evidence(), out);
        *out << (value.refusal().empty() ? "" : ", refused: ") << value.refusal();
    }
};

template <class T, std::size_t N>
class UniversalPrinter<std::span<T, N>> {
  public:
    static void Print(const std::span<T, N>& value, std::ostream* out) {
        UniversalPrint(std::vector(value.begin(), value.end()), out);
    }
};

}  // namespace testing::internal
