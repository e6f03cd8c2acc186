#include "services/common/codec/site_codec.hpp"

#include "services/common/codec/json/reply_view.hpp"
#include "services/common/codec/json/words.hpp"

namespace zbs::codec {
namespace {

constexpr std::size_t kMaxReason = 1'024;
// Of all texts of a list together; a name has up to 64 bytes, a subject up to 256.
constexpr std::size_t kMaxGroupsBytes = 64 * limits::kMaxGroups;
constexpr std::size_t kMaxBlockedBytes = 256 * limits::kMaxBlocks;

Json encode(const IssuedCertificate& certificate) {
    Json json = {{"serial", certificate.serial}, {"not_after_us", to_microseconds(certificate.not_after)}};
    if (certificate.revoked) json["revoked_us"] = to_microseconds(*certificate.revoked);
    return json;
}

std::string read_serial(JsonReader& in, const char* key) {
    std::string serial = in.text(key, 64);
    if (in.ok() && (serial.empty() || serial.find_first_not_of("0123456789abcdef") != std::string::npos))
        in.fail(key, "must be a serial number in lower-case hexadecimal");
    return serial;
}

}  // namespace

Json encode(const Member& member) {
    Json certificates = Json::array();
    for (const IssuedCertificate& certificate : member.certificates) certificates.push_back(encode(certificate));
    return {{"name", member.name},
            {"groups", member.groups},
            {"added_us", to_microseconds(member.added)},
            {"code_hash", member.code_hash},
            {"code_request", member.code_request},
            {"code_expires_us", to_microseconds(member.code_expires)},
            {"revoked", member.revoked},
            {"certificates", std::move(certificates)}};
}

Json encode_view(const Member& member) {
    Json json = encode(member);
    json["code_pending"] = !member.code_hash.empty() && member.code_request.empty();
    json.erase("code_hash");
    json.erase("code_request");
    return json;
}

Result<Member> decode_member(const Json& json) {
    JsonReader in(json);
    Member member;
    member.name = read_name(in, "name");
    member.groups = in.texts("groups", limits::kMaxGroups, kMaxGroupsBytes);
    member.added = read_time(in, "added_us");
    member.code_hash = in.text("code_hash", 64);
    member.code_request = in.text("code_request", 64);
    member.code_expires = read_time(in, "code_expires_us");
    member.revoked = in.boolean("revoked");
    const Json& certificates = in.array("certificates", limits::kMaxCertificatesPerUser);
    for (std::size_t i = 0; i < certificates.size() && in.ok(); ++i) {
        JsonReader item(certificates[i], in.pointer_of("certificates/" + std::to_string(i)));
        IssuedCertificate certificate{read_serial(item, "serial"), read_time(item, "not_after_us"), std::nullopt};
        if (item.has("revoked_us")) certificate.revoked = read_time(item, "revoked_us");
        Result<IssuedCertificate> read = item.finish(std::move(certificate));
        if (!read) return read.error();
        member.certificates.push_back(*std::move(read));
    }
    return in.finish(std::move(member));
}

Json encode(const Block& block) {
    return {{"subject", block.subject},
            {"reason", bounded(block.reason, kMaxReason)},
            {"by", block.by},
            {"at_us", to_microseconds(block.at)}};
}

Result<Block> decode_block(const Json& json) {
    JsonReader in(json);
    Block block{in.text("subject", 256), in.text("reason", kMaxReason), in.text("by", 256), read_time(in, "at_us")};
    return in.finish(std::move(block));
}

Json encode(const AnnouncedBlocks& announced) {
    return {{"announcer", announced.announcer}, {"subjects", announced.subjects}};
}

Result<AnnouncedBlocks> decode_announced_blocks(const Json& json) {
    JsonReader in(json);
    AnnouncedBlocks announced{in.text("announcer", 256), in.texts("subjects", limits::kMaxBlocks, kMaxBlockedBytes)};
    return in.finish(std::move(announced));
}

Json encode(const TrustedOrganisation& trusted) {
    return {{"organisation", trusted.organisation},
            {"bundle", trusted.bundle},
            {"revocations", trusted.revocations},
            {"pinned_us", to_microseconds(trusted.pinned)}};
}

Result<TrustedOrganisation> decode_trusted_organisation(const Json& json) {
    JsonReader in(json);
    TrustedOrganisation trusted;
    trusted.organisation = read_name(in, "organisation");
    trusted.bundle = in.text("bundle", limits::kMaxBundleBytes);
    trusted.revocations = in.text("revocations", limits::kMaxRevocationBytes);
    trusted.pinned = read_time(in, "pinned_us");
    return in.finish(std::move(trusted));
}

Json encode(const TrustStatement& statement) {
    Json json = {{"organisation", statement.organisation}, {"name", statement.name}, {"bundle", statement.bundle}};
    if (statement.blocked) {
        json["revocations"] = statement.revocations;
        json["blocked"] = *statement.blocked;
    }
    return json;
}

Result<TrustStatement> decode_trust_statement(const Json& json) {
    JsonReader in(json);
    TrustStatement statement;
    statement.organisation = read_name(in, "organisation");
    statement.name = in.text("name", 256);
    statement.bundle = in.text("bundle", limits::kMaxBundleBytes);
    if (in.has("blocked") || in.has("revocations")) {  // both or none
        statement.revocations = in.text("revocations", limits::kMaxRevocationBytes);
        statement.blocked = in.texts("blocked", limits::kMaxBlocks, kMaxBlockedBytes);
    }
    return in.finish(std::move(statement));
}

Json encode(const EnrolmentRequest& request) {
    Json json = {{"request", request.request}};
    if (!request.name.empty()) json["name"] = request.name;
    if (!request.code.empty()) json["code"] = request.code;
    return json;
}

Result<EnrolmentRequest> decode_enrolment_request(const Json& json) {
    JsonReader in(json);
    EnrolmentRequest request;
    if (in.has("name") || in.has("code")) {  // both, or none
        request.name = read_name(in, "name");
        request.code = in.text("code", 64);
        if (request.code.empty())
            in.fail("code", "must not be empty: it is in the line that 'zbs-zone user add' printed");
    }
    request.request = in.text("request", limits::kMaxRequestBytes);
    return in.finish(std::move(request));
}

Json encode(const EnrolmentAnswer& answer) {
    return {{"certificate", answer.certificate},
            {"bundle", answer.bundle},
            {"user", to_uri(answer.user)},
            {"home", to_uri(answer.home)},
            {"not_after_us", to_microseconds(answer.not_after)}};
}

Result<EnrolmentAnswer> decode_enrolment_answer(const Json& json) {
    JsonReader in(json);
    EnrolmentAnswer answer{in.text("certificate", limits::kMaxChainBytes), in.text("bundle", limits::kMaxBundleBytes),
                           read_identity(in, "user"), read_identity(in, "home"), read_time(in, "not_after_us")};
    return in.finish(std::move(answer));
}

Json encode(const NewUser& user) { return {{"name", user.name}, {"groups", user.groups}}; }

Result<NewUser> decode_new_user(const Json& json) {
    JsonReader in(json);
    NewUser user{read_name(in, "name"), {}};
    if (in.has("groups")) user.groups = in.texts("groups", limits::kMaxGroups, kMaxGroupsBytes);
    return in.finish(std::move(user));
}

Json encode(const NewToken& token) {
    Json json = {{"lifetime_s", to_seconds(token.lifetime)}};
    if (!token.organisation.empty()) json["organisation"] = token.organisation;
    return json;
}

Result<NewToken> decode_new_token(const Json& json) {
    JsonReader in(json);
    NewToken token;
    if (in.has("organisation")) token.organisation = read_name(in, "organisation");
    if (in.has("lifetime_s")) token.lifetime = in.seconds("lifetime_s", 30.0 * 86'400);
    return in.finish(std::move(token));
}

Json encode(const NewBlock& block) { return {{"subject", block.subject}, {"reason", block.reason}}; }

Result<NewBlock> decode_new_block(const Json& json) {
    JsonReader in(json);
    NewBlock block{in.text("subject", 256), in.text_or("reason", "", kMaxReason)};
    return in.finish(std::move(block));
}

Result<NewDelegation> decode_new_delegation(const Json& json, const DelegationId& otherwise) {
    JsonReader in(json);
    NewDelegation wanted{read_id_or(in, "id", otherwise), {}};
    if (in.has("application")) wanted.application = to_string(read_id<ApplicationId>(in, "application"));
    return in.finish(std::move(wanted));
}

Json encode_drain(bool on) { return {{"draining", on}}; }

Result<bool> decode_drain(const Json& json) {
    JsonReader in(json);
    const bool on = in.boolean("draining");
    return in.finish(bool{on});
}

Result<std::string> decode_proxy_chain(const Json& json) {
    JsonReader in(json);
    std::string chain = in.text("chain", limits::kMaxChainBytes);
    return in.finish(std::move(chain));
}

Json encode(const Delegation& delegation) {
    Json json = encode_view(delegation);
    json["key"] = delegation.key;
    json["chain"] = delegation.chain;
    return json;
}

Json encode_view(const Delegation& delegation) {
    return {{"id", to_string(delegation.id)},
            {"owner", to_uri(delegation.owner)},
            {"application", delegation.application},
            {"renewal", delegation.renewal},
            {"request", delegation.request},
            {"signed", !delegation.chain.empty()},
            {"not_after_us", to_microseconds(delegation.not_after)},
            {"created_us", to_microseconds(delegation.created)}};
}

Result<Delegation> decode_delegation(const Json& json) {
    JsonReader in(json);
    Delegation delegation;
    delegation.id = read_id<DelegationId>(in, "id");
    delegation.owner = read_identity(in, "owner");
    delegation.application = in.text("application", 26);
    delegation.renewal = in.boolean("renewal");
    delegation.key = in.text("key", limits::kMaxChainBytes);
    delegation.request = in.text("request", limits::kMaxChainBytes);
    delegation.chain = in.text("chain", limits::kMaxChainBytes);
    in.boolean("signed");
    delegation.not_after = read_time(in, "not_after_us");
    delegation.created = read_time(in, "created_us");
    return in.finish(std::move(delegation));
}

Json encode_removed(const DelegationId& id) { return {{"id", to_string(id)}}; }

Json encode(const MemberRow& row) {
    Json json = encode_view(row.member);
    json["standing"] = row.standing;
    json["code_pending"] = row.code_pending;
    return json;
}

Json encode_users(const std::vector<MemberRow>& rows) {
    Json users = Json::array();
    for (const MemberRow& row : rows) users.push_back(encode(row));
    return {{"users", std::move(users)}};
}

Json encode(const InvitedUser& user) {
    return {{"name", user.name}, {"token", user.token}, {"expires_us", to_microseconds(user.expires)}};
}

std::string decode_invitation(const Json& json) { return ReplyView(json).text("token"); }

UserView decode_user_view(const Json& user) {
    const ReplyView row(user);
    return {row.text("name"),
            row.text("standing"),
            row.boolean("code_pending"),
            time_from_microseconds(row.integer("code_expires_us")),
            time_from_microseconds(row.integer("added_us")),
            row.array("certificates").size(),
            row.texts("groups"),
            user};
}

std::vector<UserView> decode_users(const Json& answer) {
    std::vector<UserView> users;
    for (const Json& user : ReplyView(answer).array("users")) users.push_back(decode_user_view(user));
    return users;
}

Json encode_created(const Block& block, bool known) {
    Json json = encode(block);
    json["known"] = known;
    return json;
}

Json encode_blocks(const std::vector<Block>& own, const std::vector<AnnouncedBlock>& announced) {
    Json rows = Json::array(), others = Json::array();
    for (const Block& block : own) rows.push_back(encode(block));
    for (const AnnouncedBlock& block : announced)
        others.push_back({{"subject", block.subject}, {"announced_by", block.announcer}});
    return {{"blocks", std::move(rows)}, {"announced", std::move(others)}};
}

Json encode_unblocked(const std::string& subject, const std::vector<std::string>& announcers) {
    return {{"subject", subject}, {"announced_by", announcers}};
}

BlockView decode_block_view(const Json& block) {
    const ReplyView row(block);
    return {row.text("subject"),
            row.text("reason"),
            row.text("by"),
            row.text("announced_by"),
            time_from_microseconds(row.integer("at_us")),
            !row.has("known") || row.boolean("known"),
            block};
}

std::vector<BlockView> decode_blocks(const Json& answer) {
    const ReplyView all(answer);
    std::vector<BlockView> blocks;
    for (const char* whose : {"blocks", "announced"})
        for (const Json& block : all.array(whose)) blocks.push_back(decode_block_view(block));
    return blocks;
}

std::vector<std::string> decode_announcers(const Json& answer) { return ReplyView(answer).texts("announced_by"); }

}  // namespace zbs::codec
