#include "algorithms/learning/argument_class.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace zbs::learning {
namespace {

struct Arguments {
    std::vector<std::string> arguments;
    const char* class_text;
};

TEST(ArgumentClass, HasNumbersByTheirOrderOfMagnitude) {
    for (const Arguments& c : std::vector<Arguments>{
             {{}, ""},
             {{"1000"}, "{3}"},
             {{"999"}, "{2}"},
             {{"0"}, "{-}"},
             {{"0.00"}, "{-}"},
             {{"-5"}, "-{0}"},
             {{"--eps=2.5e-6"}, "--eps={-6}"},
             {{"--grid", "1200x800X30"}, "--grid {3}x{2}X{1}"},
             {{"run_07.in"}, "run_{0}.in"},
             {{"3.5"}, "{0}"},
             {{"1.2.3"}, "{0}.{0}"},
             {{"7."}, "{0}."},
             {{"1e"}, "1e"},  // a name: its e is no exponent
             {{"1e400"}, "{+}"},
             {{"mpi4", "2d", "x86_64"}, "mpi4 2d x86_{1}"},
             {{"a b", ""}, "a\\20b "},
             {{"{3}", "\\"}, "\\7b{0}\\7d \\5c"},
             {{"\xc3\xa4\n"}, "\\c3\\a4\\0a"},
         })
        EXPECT_EQ(argument_class(c.arguments), c.class_text);
}

TEST(ArgumentClass, OneArgumentAndTwoDiffer) {
    EXPECT_NE(argument_class(std::vector<std::string>{"a b"}), argument_class(std::vector<std::string>{"a", "b"}));
}

TEST(ArgumentClass, LongOnesAreCutAndStillTellApart) {
    std::vector<std::string> many(900, "input"), other = many;
    other.back() = "output";
    EXPECT_EQ(argument_class(many).size(), kMaxArgumentClass);
    EXPECT_NE(argument_class(many), argument_class(other));
    EXPECT_EQ(argument_class(many), argument_class(many));
}

TEST(ArgumentClass, OfTheLongestTextIsNotCut) {
    EXPECT_EQ(argument_class(std::vector<std::string>{std::string(kMaxArgumentClass, 'a')}),
              std::string(kMaxArgumentClass, 'a'));
}

}  // namespace
}  // namespace zbs::learning
