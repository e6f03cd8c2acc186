#include "services/common/messages/names/owned_id.hpp"

#include <gtest/gtest.h>

namespace zbs {
namespace {

const Caller kAna{CallerKind::kUser, "alpha", "ana"};
const Id128 kFresh = make_id128(1'700'000'000'000, 0x1234, 0x56789abcdef01234);

TEST(OwnedId, TheMarkIsTheBeginningOfTheSha256OfTheUri) {
    // printf spiffe://alpha/user/ana | sha256sum
    EXPECT_EQ(marked(kFresh, kAna), make_id128(1'700'000'000'000, 0x1234, 0x56789abc72077933));
}

TEST(OwnedId, MarksOfOthersDiffer) {
    const Id128 id = marked(kFresh, kAna);
    EXPECT_TRUE(has_mark_of(id, kAna));
    for (const Caller& other : {Caller{CallerKind::kUser, "alpha", "bob"}, Caller{CallerKind::kUser, "beta", "ana"},
                                Caller{CallerKind::kZone, "alpha", "ana"}, Caller{}})
        EXPECT_FALSE(has_mark_of(id, other)) << other;
    EXPECT_FALSE(has_mark_of(kFresh, kAna));
}

TEST(OwnedId, TheRefusalNamesTheFieldAndTheRemedyAndNotTheId) {
    EXPECT_TRUE(check_mark(marked(kFresh, kAna), kAna));
    const Error error = check_mark(kFresh, kAna).error();
    EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(error.pointer, "/id");
    EXPECT_NE(error.message.find("docs/protocol.md"), std::string::npos) << error;
    EXPECT_EQ(error, check_mark(make_id128(1, 2, 3), kAna).error());
}

}  // namespace
}  // namespace zbs
