#include "services/common/http/trace.hpp"

#include <gtest/gtest.h>

#include "tests/support/messages.hpp"

namespace zbs::http {
namespace {

const std::string kId = "4bf92f3577b34da6a3ce929d0e0e4736", kParent = "00f067aa0ba902b7";

TEST(Traceparent, IsReadWhereItIsWellFormed) {
    EXPECT_EQ(read_traceparent("00-" + kId + "-" + kParent + "-01"), (TraceContext{kId, true}));
    EXPECT_EQ(read_traceparent("00-" + kId + "-" + kParent + "-00"), (TraceContext{kId, false}));
    EXPECT_EQ(read_traceparent("00-" + kId + "-" + kParent + "-fe"), (TraceContext{kId, false}));
    EXPECT_EQ(read_traceparent("cc-" + kId + "-" + kParent + "-01-what-will-be"), (TraceContext{kId, true}));
    for (const std::string& header :
         {std::string(), std::string("00"), "00-" + kId + "-" + kParent, "00-" + kId + "-" + kParent + "-01-more",
          "00-" + kId + "-" + kParent + "-0", "ff-" + kId + "-" + kParent + "-01", "cc-" + kId + "-" + kParent + "-01x",
          "00-" + std::string(32, '0') + "-" + kParent + "-01", "00-" + kId + "-" + std::string(16, '0') + "-01",
          "00-4BF92F3577B34DA6A3CE929D0E0E4736-" + kParent + "-01", "00_" + kId + "-" + kParent + "-01",
          "00-" + kId + "-" + kParent + "-g1", " 00-" + kId + "-" + kParent + "-01"})
        EXPECT_EQ(read_traceparent(header), TraceContext{}) << header;
}

TEST(Traceparent, OfACallHasItsOwnIdInTheSameTrace) {
    const TraceContext trace{kId, true};
    const std::string one = traceparent_of(trace), other = traceparent_of(trace);
    EXPECT_NE(one, other);
    EXPECT_EQ(read_traceparent(one), trace);
    EXPECT_EQ(read_traceparent(traceparent_of({kId, false})), (TraceContext{kId, false}));
}

TEST(TraceBook, KnowsTheFirstTraceOfAnApplicationAndOfItsParts) {
    TraceBook book;
    const ApplicationId application{test::some_id(1)}, untraced{test::some_id(2)};
    const PartId part{test::some_id(3)}, other{test::some_id(4)};
    book.record(application, {kId, true});
    book.record(application, {std::string(32, '1'), false});
    book.record(untraced, TraceContext{});
    book.record(part, application);
    book.record(other, untraced);
    EXPECT_EQ(book.of(application), (TraceContext{kId, true}));
    EXPECT_EQ(book.of(part), (TraceContext{kId, true}));
    EXPECT_EQ(book.of(untraced), TraceContext{});
    EXPECT_EQ(book.of(other), TraceContext{});
}

TEST(TraceBook, ForgetsTheOldest) {
    TraceBook book;
    for (std::size_t i = 0; i <= TraceBook::kMax; ++i) {
        book.record(ApplicationId{test::some_id(i)}, {kId, true});
        book.record(PartId{test::some_id(i)}, ApplicationId{test::some_id(i)});
    }
    EXPECT_EQ(book.of(ApplicationId{test::some_id(0)}), TraceContext{});
    EXPECT_EQ(book.of(PartId{test::some_id(0)}), TraceContext{});
    EXPECT_EQ(book.of(PartId{test::some_id(TraceBook::kMax)}), (TraceContext{kId, true}));
}

}  // namespace
}  // namespace zbs::http
