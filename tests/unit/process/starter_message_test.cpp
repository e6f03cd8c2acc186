#include "services/common/adapters/process/start/starter_message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zbs::process {
namespace {

const std::vector<std::string> kArguments = {"--operation", "a", "--", "/bin/sh", "-c", "", "x y\n"};

TEST(StarterMessage, ArgumentsAreReadBack) {
    const auto read = decode_arguments(encode_arguments(kArguments));
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(*read, kArguments);
}

TEST(StarterMessage, CutArgumentsAreRefusedOrEndAtAWord) {
    const std::string text = encode_arguments(kArguments);
    for (std::size_t size = 0; size < text.size(); ++size) {
        const auto read = decode_arguments(std::string_view(text).substr(0, size));
        EXPECT_TRUE(!read || encode_arguments(*read) == text.substr(0, size)) << size;
    }
    EXPECT_FALSE(decode_arguments(std::string_view(text).substr(0, text.size() - 1)));
}

TEST(StarterMessage, NoSupervisorIsAskedToStartOthers) {
    EXPECT_FALSE(decode_arguments(encode_arguments({"serve", "--socket", "/x"})));
    EXPECT_FALSE(decode_arguments(encode_arguments({""})));
    EXPECT_FALSE(decode_arguments(""));
}

TEST(StarterMessage, ArgumentsAreBounded) {
    std::string most = "--" + std::string(kMaxSupervisorArgumentBytes - 3, 'a') + std::string(1, '\0');
    EXPECT_TRUE(decode_arguments(most));
    const auto longer = decode_arguments("--" + most.substr(1));
    ASSERT_FALSE(longer);
    EXPECT_EQ(longer.error().code, ErrorCode::kTooLarge);
    std::vector<std::string> many(kMaxSupervisorArguments, "--a");
    EXPECT_TRUE(decode_arguments(encode_arguments(many)));
    many.emplace_back();
    EXPECT_FALSE(decode_arguments(encode_arguments(many)));
}

TEST(StarterMessage, AnAttendantSaysItsNumberAndNothingElse) {
    const std::string number(kRequestNumberLength, 'a'), said(kAttendance);
    EXPECT_EQ(decode_attendance(said + number), number);
    for (const std::string& text :
         {std::string(), said, said + number + "a", said + number.substr(1), said + "A" + number.substr(1), number})
        EXPECT_EQ(decode_attendance(text), std::nullopt) << text;
}

TEST(StarterMessage, AUnitHasTheNameOfItsStepAsFarAsANameMayHaveIt) {
    const std::string number = "0123456789abcdef0123456789abcdef";
    EXPECT_EQ(name_unit(kArguments, number), "zbs-step-a-01234567.service");
    EXPECT_EQ(name_unit({"--probe", "yes"}, number), "zbs-step-probe-01234567.service");
    EXPECT_EQ(name_unit({"--operation"}, number), "zbs-step-probe-01234567.service");
    EXPECT_EQ(name_unit({"--operation", "A.b_9/@x y\n%n"}, number), "zbs-step-A.b_9__x_y__n-01234567.service");
    EXPECT_LT(name_unit({"--operation", std::string(1'000, 'x')}, number).size(), 255U);
}

TEST(StarterMessage, RepliesAreReadBackAndNothingElseIs) {
    for (const StarterReply& reply : {StarterReply{17, {}}, StarterReply{0, "no\nroom"}, StarterReply{0, ""}})
        EXPECT_EQ(decode_starter_reply(encode(reply)), reply);
    for (const char* text : {"", "started", "started ", "started 0", "started -1", "started 1 ", "started x", "refuse",
                             "started 99999999999"})
        EXPECT_EQ(decode_starter_reply(text), std::nullopt) << text;
    const std::string long_reply = encode(StarterReply{0, std::string(5'000, 'x')});
    EXPECT_EQ(long_reply.size(), kMaxStarterReplyBytes);
    EXPECT_TRUE(decode_starter_reply(long_reply));
    EXPECT_FALSE(decode_starter_reply(long_reply + "x"));
}

}  // namespace
}  // namespace zbs::process
