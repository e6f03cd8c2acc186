#include "services/common/codec/json/fields.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace zbs::codec {
namespace {

struct Wheel {
    double inches = 26;
    bool operator==(const Wheel&) const = default;
};
struct Bicycle {
    std::string name;
    int gears = 1;
    bool bell = true;
    std::vector<std::string> colours{"black"};
    std::optional<Duration> age;
    Wheel spare;
    std::vector<Wheel> wheels;
    bool operator==(const Bicycle&) const = default;
};

void check_bicycle(JsonReader& in, const Bicycle& bicycle) {
    if (bicycle.wheels.size() > 1 && bicycle.gears == 9) in.fail("gears", "are too many for two wheels");
}

constexpr auto kWheel = fields<Wheel>(number("inches", &Wheel::inches, 1, 99));
constexpr auto kBicycle =
    fields<Bicycle>(name("name", &Bicycle::name), integer("gears", &Bicycle::gears, 1, 9),
                    optional(boolean("bell", &Bicycle::bell)), defaulted(texts("colours", &Bicycle::colours, 2, 64)),
                    seconds("age_s", &Bicycle::age, 60), Inlined{&Bicycle::spare, kWheel},
                    list("wheels", &Bicycle::wheels, 2, kWheel))
        .checked(check_bicycle);

const Bicycle kUsual{.name = "b"};
const Json kUsualJson = {
    {"name", "b"}, {"gears", 1}, {"colours", {"black"}}, {"inches", 26.0}, {"wheels", Json::array()}};

Json with(const char* key, Json value) {
    Json json = kUsualJson;
    json[key] = std::move(value);
    return json;
}
Json without(const char* key) {
    Json json = kUsualJson;
    json.erase(key);
    return json;
}
/// The message and the place of the error.
std::string fault(const Json& json) {
    const Result<Bicycle> read = kBicycle.decode(*parse(dump(json)), "/at");
    return read ? "none" : read.error().pointer + " " + read.error().message;
}

TEST(Fields, WhatIsWrittenIsReadBack) {
    const Bicycle full{.name = "a",
                       .gears = 3,
                       .bell = false,
                       .colours = {},
                       .age = std::chrono::milliseconds{1'500},
                       .spare = {20},
                       .wheels = {{20}, {28}}};
    const Json json = kBicycle.encode(full);
    EXPECT_EQ(json, Json({{"name", "a"},
                          {"gears", 3},
                          {"bell", false},
                          {"colours", Json::array()},
                          {"age_s", 1.5},
                          {"inches", 20.0},
                          {"wheels", {{{"inches", 20.0}}, {{"inches", 28.0}}}}}));
    EXPECT_EQ(*kBicycle.decode(json), full);
}

TEST(Fields, AnOptionalFieldIsLeftOutWhileItHasItsDefault) {
    EXPECT_EQ(kBicycle.encode(kUsual), kUsualJson);
    EXPECT_EQ(*kBicycle.decode(kUsualJson), kUsual);
    EXPECT_EQ(*kBicycle.decode(with("bell", true)), kUsual);
}

TEST(Fields, ADefaultedFieldIsWrittenAndMayBeAbsent) { EXPECT_EQ(*kBicycle.decode(without("colours")), kUsual); }

TEST(Fields, TheFirstFaultIsReportedAtItsPlace) {
    EXPECT_EQ(fault(kUsualJson), "none");
    EXPECT_EQ(fault(without("gears")), "/at/gears is missing");
    EXPECT_EQ(fault(without("inches")), "/at/inches is missing");
    EXPECT_EQ(fault(with("gears", 10)), "/at/gears must be a whole number from 1 to 9");
    EXPECT_EQ(fault(with("age_s", nullptr)), "/at/age_s must be a number from 0.0 to 60.0");
    EXPECT_EQ(fault(with("colour", "red")), "/at/colour is not a field of this message");
    EXPECT_EQ(fault(with("wheels", Json::array({{{"inches", 2}}, {{"inches", 0}}}))),
              "/at/wheels/1/inches must be a number from 1.0 to 99.0");
    EXPECT_EQ(fault(with("wheels", Json::array({{{"inches", 2}, {"size", 1}}}))),
              "/at/wheels/0/size is not a field of this message");
    EXPECT_EQ(fault(with("wheels", Json::array({1}))), "/at/wheels/0 must be a JSON object");
}

TEST(Fields, TheCheckSeesOnlyMessagesWithoutAFaultOfTheirFields) {
    Json json = with("wheels", Json::array({{{"inches", 2}}, {{"inches", 3}}}));
    json["gears"] = 9;
    EXPECT_EQ(fault(json), "/at/gears are too many for two wheels");
    json["age_s"] = 61;
    EXPECT_EQ(fault(json), "/at/age_s must be a number from 0.0 to 60.0");
}

}  // namespace
}  // namespace zbs::codec
