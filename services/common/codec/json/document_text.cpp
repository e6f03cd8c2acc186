#include "services/common/codec/json/document_text.hpp"

#include <cstdint>
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

void check_document_version(JsonReader& in, const std::string& maker) {
    if (!in.has("version")) return;
    const std::int64_t version = in.integer("version", 0, INT64_MAX);
    if (in.ok() && version != kDocumentVersion)
        in.fail("version", "is " + std::to_string(version) + ", and this program reads " +
                               std::to_string(kDocumentVersion) + "; make the file again with the '" + maker +
                               "' beside it, or read it with the release that made it");
}

Json list_document(const std::string& noun, Json items, bool truncated) {
    Json document = {{noun, std::move(items)}};
    if (truncated) document["truncated"] = true;
    return document;
}

Json setting_item(const std::string& setting, Json value, const std::string& origin) {
    return {{"setting", setting}, {"value", std::move(value)}, {"origin", origin}};
}

std::string document_text(Json object) {
    const std::string rest = dump(without_version(std::move(object))).substr(1);
    // Members are ordered by name, so this one is written in front of them.
    return "{\"version\":" + std::to_string(kDocumentVersion) + (rest == "}" ? "" : ",") + rest + "\n";
}

}  // namespace zbs::codec
