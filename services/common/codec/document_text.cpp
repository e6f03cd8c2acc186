#include "services/common/codec/document_text.hpp"

#include <utility>

namespace zbs::codec {

Json without_version(Json object) {
    if (const auto own = object.find("version"); own != object.end()) {
        Json said = std::move(*own);
        object.erase(own);
        object["document_version"] = std::move(said);
    }
    return object;
}

std::string document_text(Json object) {
    const std::string rest = dump(without_version(std::move(object))).substr(1);
    // Members are ordered by name, so this one is written in front of them.
    return "{\"version\":" + std::to_string(kDocumentVersion) + (rest == "}" ? "" : ",") + rest + "\n";
}

}  // namespace zbs::codec
