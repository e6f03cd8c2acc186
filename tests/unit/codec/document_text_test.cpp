#include "services/common/codec/json/document_text.hpp"

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

TEST(DocumentText, AListSaysWhetherThereIsMore) {
    const Json items = Json::array({setting_item("retention.results_days", 7, "default")});
    EXPECT_EQ(dump(list_document("settings", items, false)),
              R"({"settings":[{"origin":"default","setting":"retention.results_days","value":7}]})");
    EXPECT_EQ(dump(list_document("settings", Json::array(), true)), R"({"settings":[],"truncated":true})");
}

TEST(DocumentVersion, IsThisOneOrNoneAndAnotherIsToldWithTheRemedy) {
    const auto fault_of = [](const Json& json) {
        JsonReader in(json);
        check_document_version(in, "zbs map");
        return in.ok() ? std::string{} : in.error().pointer + " " + in.error().message;
    };
    EXPECT_EQ(fault_of({{"version", 1}}), "");
    EXPECT_EQ(fault_of(Json::object()), "") << "written by hand";
    EXPECT_EQ(fault_of({{"version", 2}}),
              "/version is 2, and this program reads 1; make the file again with the 'zbs map' beside it, or read it "
              "with the release that made it");
    EXPECT_TRUE(fault_of({{"version", 0}}).starts_with("/version is 0"));
    EXPECT_TRUE(fault_of({{"version", "1"}}).starts_with("/version "));
}

}  // namespace
}  // namespace zbs::codec
