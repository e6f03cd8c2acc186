#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/common/codec/records/audit_codec.hpp"
#include "services/common/http/parameters.hpp"
#include "services/common/messages/limits.hpp"
#include "tests/support/memory_audit_log.hpp"

namespace zbs::test {
namespace {
using testing::ElementsAre;
using testing::IsEmpty;

class AuditReply : public testing::Test {
  protected:
    void append(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            ASSERT_TRUE(audit.append({.who = "spiffe://a/user/ana",
                                      .action = "submit",
                                      .object = std::to_string(++appended),
                                      .decision = "allow"},
                                     AuditUrgency::kNow));
        }
    }
    http::Reply get(std::map<std::string, std::string> query) {
        http::Call call;
        call.query = std::move(query);
        return http::audit_reply(call, audit);
    }
    codec::AuditPage page(std::map<std::string, std::string> query) {
        const http::Reply reply = get(std::move(query));
        EXPECT_EQ(reply.status, 200) << reply.body;
        const auto read = codec::decode_audit_page(*codec::parse(reply.body));
        EXPECT_TRUE(read) << read.error();
        return read ? *read : codec::AuditPage{};
    }
    static std::vector<std::string> objects(const codec::AuditPage& page) {
        std::vector<std::string> names;
        for (const AuditRecord& record : page.records) names.push_back(record.entry.object);
        return names;
    }
    MemoryAuditLog audit;
    std::size_t appended = 0;
};

TEST_F(AuditReply, APageTellsWhereTheNextBegins) {
    append(5);
    const auto first = page({{"limit", "2"}});
    EXPECT_THAT(objects(first), ElementsAre("1", "2"));
    EXPECT_EQ(first.next, 2U);
    EXPECT_EQ(first.head, audit.head());
    const auto rest = page({{"after", "2"}, {"limit", "3"}});
    EXPECT_THAT(objects(rest), ElementsAre("3", "4", "5"));
    EXPECT_EQ(rest.next, 0U) << "the end";
    append(1);
    EXPECT_THAT(objects(page({{"after", "5"}})), ElementsAre("6")) << "who asks again later gets what came since";
}

TEST_F(AuditReply, BehindTheEndThereIsNothing) {
    EXPECT_THAT(page({}).records, IsEmpty());
    append(1);
    EXPECT_THAT(page({{"after", "7"}}).records, IsEmpty());
    EXPECT_EQ(page({{"after", "7"}}).next, 0U);
}

TEST_F(AuditReply, ManyEntriesAreReadInPages) {
    append(2'500);
    std::uint64_t after = 0;
    std::size_t read = 0, pages = 0;
    do {
        const auto next = page({{"after", std::to_string(after)}, {"limit", std::to_string(limits::kMaxAuditRows)}});
        read += next.records.size();
        after = next.next;
        ++pages;
    } while (after > 0);
    EXPECT_EQ(read, 2'500U);
    EXPECT_EQ(pages, 3U);
    EXPECT_EQ(page({}).records.size(), 100U);
}

TEST_F(AuditReply, ParametersThatAreNoneAreRefused) {
    for (const auto& [key, value] :
         std::map<std::string, std::string>{{"from", "1"}, {"after", "-1"}, {"after ", "1"}, {"limit", "0"}}) {
        EXPECT_EQ(get({{key, value}}).status, 400) << key << "=" << value;
    }
    for (const char* after : {"x", "", "1e3", "9223372036854775807", "18446744073709551616"})
        EXPECT_EQ(get({{"after", after}}).status, 400) << after;
    EXPECT_EQ(get({{"limit", std::to_string(limits::kMaxAuditRows + 1)}}).status, 400);
}

TEST_F(AuditReply, ALogThatCannotBeWrittenIsSaidNotHidden) {
    ASSERT_TRUE(audit.append({.who = "x"}, AuditUrgency::kSoon));
    audit.fault = Error{ErrorCode::kUnavailable, "disk full", {}};
    EXPECT_EQ(get({}).status, 503);
}

}  // namespace
}  // namespace zbs::test
