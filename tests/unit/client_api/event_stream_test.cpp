#include "client/calls/event_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zbs::client {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kText =
    "retry: 1000\n\nid: 7\nevent: application\ndata: {\"a\":1}\n\n:\n\nid: 9\ndata: x\ndata:y\n\nid: 10\ndata: cut off";

TEST(EventStream, IsTheSameHoweverItIsCut) {
    const auto both = ElementsAre(ServerEvent{"7", "{\"a\":1}"}, ServerEvent{"9", "x\ny"});
    EXPECT_THAT(EventStream().take(kText), both);
    for (std::size_t piece = 1; piece < kText.size(); ++piece) {
        EventStream stream;
        std::vector<ServerEvent> found;
        for (std::size_t at = 0; at < kText.size(); at += piece)
            for (const ServerEvent& event : stream.take(std::string_view(kText).substr(at, piece)))
                found.push_back(event);
        EXPECT_THAT(found, both) << piece;
        EXPECT_EQ(stream.last_id(), "9") << "what was cut off has not come";
    }
}

TEST(EventStream, LinesEndInAnyOfThreeWays) {
    EXPECT_THAT(EventStream().take("id: 1\r\ndata: a\r\n\r\nid: 2\rdata: b\r\r"),
                ElementsAre(ServerEvent{"1", "a"}, ServerEvent{"2", "b"}));
}

TEST(EventStream, CommentsAndFieldsWithoutDataAreNoEvents) {
    EventStream stream("5");
    EXPECT_THAT(stream.take(":\n\n: beat\n\nretry: 3\n\n"), IsEmpty());
    EXPECT_EQ(stream.last_id(), "5") << "nothing has named another";
    EXPECT_THAT(stream.take("data\n\n"), ElementsAre(ServerEvent{"5", ""}));
}

TEST(EventStream, AnEndlessLineIsCutAndKeepsNoMemory) {
    EventStream stream;
    stream.take("data: ");
    for (int i = 0; i < 100; ++i) EXPECT_THAT(stream.take(std::string(10'000, 'x')), IsEmpty());
    const auto events = stream.take("\n\n");
    ASSERT_EQ(events.size(), 1U);
    EXPECT_LE(events[0].data.size(), EventStream::kMaxLine);
}

}  // namespace
}  // namespace zbs::client
