#pragma once
#include <string>

#include "services/common/codec/json/json.hpp"

namespace zbs::codec {

/// Of the documents that the command lines print for programs. It grows when a key goes away or changes its type, not
/// when one comes.
inline constexpr int kDocumentVersion = 1;

/// The object without a member "version": a service's own member of that name is called "document_version".
Json without_version(Json object);
/// The version of a document that is read again; a document written by hand may have none. A fault where it is another
/// than kDocumentVersion, which says to have `maker` ("zbs map") make the document again. To be asked first: what else
/// there is may be new.
void check_document_version(JsonReader& in, const std::string& maker);
/// A list as a document: `noun` is the key of its items; `truncated`: there are or may be more.
Json list_document(const std::string& noun, Json items, bool truncated);
/// A setting of a configuration, as an item of such a list.
Json setting_item(const std::string& setting, Json value, const std::string& origin);
/// `dump` of the object, with kDocumentVersion as its first member "version"; ends with a line end.
std::string document_text(Json object);

}  // namespace zbs::codec
