#pragma once
#include <cctype>
#include <string>
#include <vector>

#include "services/common/codec/json/json.hpp"

namespace zbs::test {

/// "METHOD pattern operationId" of every operation of a contract, as `http::Router::routes` tells them.
inline std::vector<std::string> documented_routes(const char* contract) {
    const codec::Json document = *codec::parse(contract);
    std::vector<std::string> documented;
    for (const auto& [path, methods] : document["paths"].items()) {
        for (const auto& [method, operation] : methods.items()) {
            if (method == "parameters") continue;
            std::string line = method;
            for (char& c : line) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
            documented.push_back(line + " " + path + " " + operation["operationId"].get<std::string>());
        }
    }
    return documented;
}

}  // namespace zbs::test
