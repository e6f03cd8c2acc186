#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace zbs::formats {

/// Every element is closed in order, every attribute quoted, no bare '<' or '&' in texts.
inline void expect_well_formed(const std::string& svg) {
    std::vector<std::string> open;
    for (std::size_t at = 0; at < svg.size(); ++at) {
        if (svg[at] == '&') {
            const std::size_t end = svg.find(';', at);
            ASSERT_TRUE(end != std::string::npos && end - at <= 5) << svg.substr(at, 20);
        }
        if (svg[at] != '<') continue;
        const std::size_t end = svg.find('>', at);
        ASSERT_NE(end, std::string::npos);
        const std::string element = svg.substr(at + 1, end - at - 1);
        ASSERT_EQ(element.find('<'), std::string::npos) << element;
        ASSERT_EQ(std::ranges::count(element, '"') % 2, 0) << element;
        const std::string name = element.substr(0, element.find_first_of(" /", 1));
        if (element.starts_with('/')) {
            ASSERT_FALSE(open.empty());
            ASSERT_EQ(open.back(), element.substr(1));
            open.pop_back();
        } else if (!element.ends_with('/')) {
            open.push_back(name);
        }
        at = end;
    }
    EXPECT_TRUE(open.empty());
    EXPECT_TRUE(svg.starts_with("<svg xmlns="));
}

/// How often `part` is in `text`.
inline std::size_t count(const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
}

}  // namespace zbs::formats
