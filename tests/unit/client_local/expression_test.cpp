#include "client/cli/expression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zbs::cli {
namespace {

using testing::HasSubstr;

constexpr std::string_view kNames[] = {"zone",   "organisation", "processors", "used",     "state",
                                       "usable", "category",     "policy",     "sharing",  "backend",
                                       "mpich",  "openmpi",      "mpi",        "launcher", "feature"};
Result<Expression> parse(std::string_view text) { return Expression::parse(text, kNames); }

const Attributes kZone = {{"zone", "a"},         {"usable", "yes"},       {"processors", "64"}, {"policy", "gang"},
                          {"launcher", "mpich"}, {"launcher", "openmpi"}, {"mpi", "4.0.2"},     {"mpi", "5.10rc1"},
                          {"mpich", "4.0.2"},    {"backend", "agents"},   {"feature", "it's 4"}};

struct Holds {
    const char* text;
    bool holds;
};
class ExpressionHolds : public testing::TestWithParam<Holds> {};
INSTANTIATE_TEST_SUITE_P(
    , ExpressionHolds,
    testing::Values(Holds{"policy = gang", true}, Holds{"policy=easy", false},
                    Holds{"policy = gang and mpi >= 4", true},
                    // One of several values is enough, and for != none may be equal.
                    Holds{"launcher = openmpi", true}, Holds{"launcher != openmpi", false},
                    Holds{"launcher != srun", true}, Holds{"not launcher = srun", true},
                    // A zone of which nothing is known.
                    Holds{"openmpi >= 0", false}, Holds{"openmpi != 4", true}, Holds{"sharing = none", false},
                    // Versions compare part by part.
                    Holds{"mpich = 4.0.2", true}, Holds{"mpich = 4.0.2.0", true}, Holds{"mpich = 4", false},
                    Holds{"mpich > 4", true}, Holds{"mpich < 4.0.10", true}, Holds{"mpich <= 4.0.2", true},
                    Holds{"mpich < 4.0.2", false}, Holds{"mpi > 5.9", true}, Holds{"mpi > 5.10", false},
                    Holds{"processors >= 64", true}, Holds{"processors > 64", false}, Holds{"policy < 4", false},
                    // `not` binds closest, then `and`.
                    Holds{"zone = b and zone = a or usable = yes", true},
                    Holds{"zone = b and (zone = a or usable = yes)", false},
                    Holds{"usable = yes or zone = a and zone = b", true}, Holds{"not zone = b and usable = yes", true},
                    Holds{"not (zone = b or usable = yes)", false}, Holds{"not not zone = a", true},
                    Holds{"feature = \"it's 4\" and zone = 'a'", true}, Holds{"  (zone=a)\t", true}),
    [](const auto& param_info) { return "Case" + std::to_string(param_info.index); });

TEST_P(ExpressionHolds, AsItsTextReads) {
    const Result<Expression> expression = parse(GetParam().text);
    ASSERT_TRUE(expression) << expression.error();
    EXPECT_EQ(expression->holds(kZone), GetParam().holds) << GetParam().text;
}

struct Bad {
    const char* text;
    const char* message;
};
class ExpressionFault : public testing::TestWithParam<Bad> {};
INSTANTIATE_TEST_SUITE_P(
    , ExpressionFault,
    testing::Values(Bad{"", "character 1 (the end): an attribute is expected here: zone, "},
                    Bad{"polcy = gang", "character 1, 'polcy': there is no such attribute; did you mean 'policy'?"},
                    Bad{"policy gang", "character 8, 'gang': =, !=, <, <=, > or >= is expected behind 'policy'"},
                    Bad{"policy == gang", "character 8, '==': "}, Bad{"policy", "character 7 (the end): "},
                    Bad{"policy = ", "character 10 (the end): a value is expected behind '='"},
                    Bad{"policy = and zone = a", "character 10, 'and': a value"},
                    Bad{"mpi >= new", "character 8, 'new': '>=' needs a number or a version, as 4 or 4.1.2"},
                    Bad{"mpi >= 4rc1", "character 8, '4rc1': "}, Bad{"mpi >= 99999999999999999999", "character 8, "},
                    Bad{"policy = gang zone = a", "character 15, 'zone': 'and', 'or' or the end"},
                    Bad{"(policy = gang", "character 1, '(': this parenthesis is not closed"},
                    Bad{"policy = gang)", "character 14, ')': "}, Bad{"zone = 'a", "character 8, ''': this quote"},
                    Bad{"zone = '\xc3\xa9' und", "character 12, 'und': "},
                    Bad{"and", "character 1, 'and': an attribute"},
                    Bad{"zone = a and not", "character 17 (the end): an attribute"},
                    Bad{"zone ~ a", "character 6, '~': "}),
    [](const auto& param_info) { return "Case" + std::to_string(param_info.index); });

TEST_P(ExpressionFault, IsNamedWithItsPlace) {
    const Result<Expression> expression = parse(GetParam().text);
    ASSERT_FALSE(expression);
    EXPECT_EQ(expression.error().pointer, "--where");
    EXPECT_THAT(expression.error().message, HasSubstr(GetParam().message));
}

TEST(Expression, IsOfBoundedLengthAndDepth) {
    EXPECT_EQ(parse(std::string(4'097, ' ')).error().code, ErrorCode::kTooLarge);
    EXPECT_TRUE(parse(std::string(100, '(') + "zone = a" + std::string(100, ')')));
    EXPECT_THAT(parse(std::string(4'000, '(')).error().message, HasSubstr("more than 100 levels"));
}

}  // namespace
}  // namespace zbs::cli
