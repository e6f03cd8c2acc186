#include "client/calls/repeated_call.hpp"

#include <gtest/gtest.h>

namespace zbs::client {
namespace {

TEST(HomeAddresses, AreTriedInTurnFromTheFirstOn) {
    HomeAddresses zone("https://host-1:8001, https://host-2:8001");
    EXPECT_TRUE(zone.has_several());
    for (const char* url : {"https://host-1:8001", "https://host-2:8001", "https://host-1:8001"}) {
        EXPECT_EQ(zone.current(), url);
        zone.turn();
    }
}

TEST(HomeAddresses, OneIsAllThereIs) {
    HomeAddresses zone("http://127.0.0.1:8001");
    EXPECT_FALSE(zone.has_several());
    zone.turn();
    EXPECT_EQ(zone.current(), "http://127.0.0.1:8001");
    EXPECT_EQ(HomeAddresses("").current(), "");
    EXPECT_EQ(HomeAddresses("https://host-1:8001, ").all(), (std::vector<std::string>{"https://host-1:8001", ""}));
}

}  // namespace
}  // namespace zbs::client
