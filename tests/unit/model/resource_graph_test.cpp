#include "algorithms/model/resource_graph.hpp"

#include <gtest/gtest.h>

namespace zbs {
namespace {

ResourceGraph two_zones() {
    return *ResourceGraph::make(
        {{"a", {{"m0", 2, 1.0}, {"m1", 1, 2.0}}, {1e-6, 1e9}, {1e-4, 1e8}}, {"b", {{"n0", 3, 0.5}}}},
        {{1, 0, {0.05, 1e7}}});
}

TEST(ResourceGraph, ProcessorsAreNumberedZoneByZone) {
    const ResourceGraph graph = two_zones();
    EXPECT_EQ(graph.processor_count(), 6);
    EXPECT_EQ(graph.place(2), (ProcessorPlace{0, 1, 0}));
    EXPECT_EQ(graph.place(5), (ProcessorPlace{1, 0, 2}));
    EXPECT_EQ(graph.first_processor_of_zone(1), 3);
    EXPECT_EQ(graph.processors_in_zone(1), 3);
    EXPECT_EQ(graph.speed(2), 2.0);
}

TEST(ResourceGraph, LinkIsTheSmallestCommonPlace) {
    const ResourceGraph graph = two_zones();
    EXPECT_EQ(graph.link(0, 1).delay_s, 1e-6);
    EXPECT_EQ(graph.link(1, 2).delay_s, 1e-4);
    EXPECT_EQ(graph.link(0, 5).delay_s, 0.05);
    EXPECT_EQ(graph.link(5, 0).delay_s, 0.05);
}

TEST(ResourceGraph, RefusesWithThePlaceAtFault) {
    const auto pointer = [](std::vector<Zone> zones, std::vector<ResourceGraph::ZoneLink> links) {
        const auto made = ResourceGraph::make(std::move(zones), std::move(links));
        return made ? std::string("accepted") : made.error().pointer;
    };
    EXPECT_EQ(pointer({}, {}), "/zones");
    EXPECT_EQ(pointer({{"a", {}}}, {}), "/zones/0/machines");
    EXPECT_EQ(pointer({{"a", {{"m", 1, 1}}}, {"a", {{"m", 1, 1}}}}, {}), "/zones/1/name");
    EXPECT_EQ(pointer({{"a", {{"m", 1, 1}, {"m", 1, 1}}}}, {}), "/zones/0/machines/1/name");
    EXPECT_EQ(pointer({{"a", {{"m", 0, 1}}}}, {}), "/zones/0/machines/0/processors");
    EXPECT_EQ(pointer({{"a", {{"m", 1, 0}}}}, {}), "/zones/0/machines/0/speed");
    EXPECT_EQ(pointer({{"a", {{"m", 1, 1}}}}, {{0, 1, {}}}), "/links/0");
    EXPECT_EQ(pointer({{"a", {{"m", 1, 1}}}, {"b", {{"m", 1, 1}}}}, {{0, 1, {-1, 1}}}), "/links/0/delay_s");
    EXPECT_EQ(pointer({{"a", {{"m", 1, 1}}}, {"b", {{"m", 1, 1}}}}, {{0, 1, {}}, {1, 0, {}}}), "/links/1");
    EXPECT_EQ(pointer({{"a", {{"m", 2'000'000'000, 1}}}}, {}), "/zones/0/machines/0");
}

}  // namespace
}  // namespace zbs
