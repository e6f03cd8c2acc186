#pragma once
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"

namespace zbs::cli {

/// What is known of a thing, by attribute; one that has several values stands several times.
using Attributes = std::multimap<std::string, std::string, std::less<>>;

/// A condition on zones or jobs, as `policy = gang and (mpi >= 4 or not sharing = none)`: comparisons of an attribute
/// with a word, a text in quotes, a number or a version, joined by `and`, `or`, `not` and parentheses; `not` binds
/// closest, then `and`. `=`, `<`, `<=`, `>` and `>=` hold where one value of the attribute does, `!=` where none is
/// equal; what is not known under that name has no value. Numbers and versions compare part by part: 4.10 > 4.9, 4
/// = 4.0, and the letters behind a version (4.2rc1) do not count.
class Expression {
  public:
    /// `names`: attributes that it may use. Errors have the pointer "--where", and say at which character. At most
    /// kMaxBytes.
    static Result<Expression> parse(std::string_view text, std::span<const std::string_view> names);
    bool holds(const Attributes& thing) const { return holds(thing, root_); }
    /// Attributes that it uses.
    std::set<std::string_view> names() const;

    static constexpr std::size_t kMaxBytes = 4'096;

  private:
    friend class ExpressionParser;
    enum class Kind { kCompare, kNot, kAnd, kOr };
    struct Node {
        Kind kind = Kind::kCompare;
        std::size_t left = 0, right = 0;  ///< nodes; kNot has only the first, kCompare none
        std::string name, operation, value;
    };
    bool holds(const Attributes& thing, std::size_t at) const;

    std::vector<Node> nodes_;
    std::size_t root_ = 0;
};

}  // namespace zbs::cli
