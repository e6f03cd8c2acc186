#include "services/common/adapters/sqlite/audit_chain.hpp"

#include <openssl/evp.h>

#include <array>
#include <charconv>

#include "services/common/adapters/sqlite/audit_log.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/printable.hpp"

namespace zbs::sqlite {
namespace {

void add_number(std::string& bytes, std::uint64_t number) {
    for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xff);
}
void add_text(std::string& bytes, const std::string& text) {
    add_number(bytes, text.size());
    bytes += text;
}

}  // namespace

AuditEntry stored_form(const AuditEntry& entry) {
    const auto stored = [](const std::string& text) { return printable_text(text, limits::kMaxAuditTextBytes); };
    return {entry.at,
            stored(entry.who),
            stored(entry.action),
            stored(entry.object),
            stored(entry.decision),
            stored(entry.request_id),
            stored(entry.detail)};
}

Result<std::string> chain_hash(const std::string& before, std::uint64_t number, const AuditEntry& entry) {
    std::string bytes;
    add_text(bytes, before);
    add_number(bytes, number);
    add_number(bytes, static_cast<std::uint64_t>(to_microseconds(entry.at)));
    for (const std::string* text :
         {&entry.who, &entry.action, &entry.object, &entry.decision, &entry.request_id, &entry.detail})
        add_text(bytes, *text);
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1)
        return Error{ErrorCode::kInternal, "this computer's OpenSSL has no SHA-256; nothing can be audited", {}};
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (unsigned int i = 0; i < size; ++i) {
        text += kDigits[digest[i] >> 4];
        text += kDigits[digest[i] & 15];
    }
    return text;
}

std::string to_string(const AuditHead& head) { return std::to_string(head.entries) + ":" + head.hash; }

Result<AuditHead> parse_audit_head(std::string_view text) {
    AuditHead head;
    const std::size_t colon = text.find(':');
    const auto read = std::from_chars(text.data(), text.data() + std::min(colon, text.size()), head.entries);
    const std::string_view hash = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
    const bool good = read.ec == std::errc{} && read.ptr == text.data() + colon && hash.size() == 64 &&
                      hash.find_first_not_of("0123456789abcdef") == std::string_view::npos;
    if (!good) {
        return invalid("'" + printable_text(text, 100) +
                       "' is no head of an audit log; give it as 'zbs-zone audit verify' printed it: ENTRIES:HASH");
    }
    head.hash = hash;
    return head;
}

}  // namespace zbs::sqlite
