#include "services/common/codec/document_text.hpp"

#include <gtest/gtest.h>

namespace zbs::codec {
namespace {

TEST(DocumentText, BeginsWithItsVersionAndKeepsTheOneOfAService) {
    EXPECT_EQ(document_text(Json::object()), "{\"version\":1}\n");
    EXPECT_EQ(document_text({{"a", Json::array({1, "x"})}}), "{\"version\":1,\"a\":[1,\"x\"]}\n");
    EXPECT_EQ(document_text({{"version", "0.1.0"}, {"a", 1}}),
              "{\"version\":1,\"a\":1,\"document_version\":\"0.1.0\"}\n");
    EXPECT_EQ(Json::parse(document_text({{"zz", nullptr}})), Json({{"version", kDocumentVersion}, {"zz", nullptr}}));
}

}  // namespace
}  // namespace zbs::codec
