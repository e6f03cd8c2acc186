#include "services/common/codec/site_codec.hpp"

#include "services/common/codec/json/fields.hpp"
#include "services/common/codec/json/reply_view.hpp"

namespace zbs::codec {
namespace {

constexpr std::size_t kMaxReason = 1'024;
// Of all texts of a list together; a name has up to 64 bytes, a subject up to 256.
constexpr std::size_t kMaxGroupsBytes = 64 * limits::kMaxGroups;
constexpr std::size_t kMaxBlockedBytes = 256 * limits::kMaxBlocks;

std::string read_serial(JsonReader& in, const char* key) {
    std::string serial = in.text(key, 64);
    if (in.ok() && (serial.empty() || serial.find_first_not_of("0123456789abcdef") != std::string::npos))
        in.fail(key, "must be a serial number in lower-case hexadecimal");
    return serial;
}

/// Both or none.
struct RevokedRow {
    void write(Json& json, const TrustStatement& statement) const {
        if (!statement.blocked) return;
        json["revocations"] = statement.revocations;
        json["blocked"] = *statement.blocked;
    }
    void read(JsonReader& in, TrustStatement& statement) const {
        if (!in.has("blocked") && !in.has("revocations")) return;
        statement.revocations = in.text("revocations", limits::kMaxRevocationBytes);
        statement.blocked = in.texts("blocked", limits::kMaxBlocks, kMaxBlockedBytes);
    }
};

/// Both or none.
struct CodeRow {
    void write(Json& json, const EnrolmentRequest& request) const {
        if (!request.name.empty()) json["name"] = request.name;
        if (!request.code.empty()) json["code"] = request.code;
    }
    void read(JsonReader& in, EnrolmentRequest& request) const {
        if (!in.has("name") && !in.has("code")) return;
        request.name = read_name(in, "name");
        request.code = in.text("code", 64);
        if (request.code.empty())
            in.fail("code", "must not be empty: it is in the line that 'zbs-zone user add' printed");
    }
};

/// For its reader; a delegation itself has its chain.
struct SignedRow {
    void write(Json& json, const Delegation& delegation) const { json["signed"] = !delegation.chain.empty(); }
    void read(JsonReader& in, Delegation&) const { in.boolean("signed"); }
};

// One field a line.
// clang-format off
constexpr auto kIssuedCertificate = fields<IssuedCertificate>(
    Field{"serial", &IssuedCertificate::serial, kAsIs, read_serial},
    time("not_after_us", &IssuedCertificate::not_after),
    time("revoked_us", &IssuedCertificate::revoked));

constexpr auto kMember = fields<Member>(
    name("name", &Member::name),
    texts("groups", &Member::groups, limits::kMaxGroups, kMaxGroupsBytes),
    time("added_us", &Member::added),
    text("code_hash", &Member::code_hash, 64),
    text("code_request", &Member::code_request, 64),
    time("code_expires_us", &Member::code_expires),
    boolean("revoked", &Member::revoked),
    list("certificates", &Member::certificates, limits::kMaxCertificatesPerUser, kIssuedCertificate));

constexpr auto kBlock = fields<Block>(
    text("subject", &Block::subject, 256),
    cut_text("reason", &Block::reason, kMaxReason),
    text("by", &Block::by, 256),
    time("at_us", &Block::at));

constexpr auto kAnnouncedBlocks = fields<AnnouncedBlocks>(
    text("announcer", &AnnouncedBlocks::announcer, 256),
    texts("subjects", &AnnouncedBlocks::subjects, limits::kMaxBlocks, kMaxBlockedBytes));

constexpr auto kTrustedOrganisation = fields<TrustedOrganisation>(
    name("organisation", &TrustedOrganisation::organisation),
    text("bundle", &TrustedOrganisation::bundle, limits::kMaxBundleBytes),
    text("revocations", &TrustedOrganisation::revocations, limits::kMaxRevocationBytes),
    time("pinned_us", &TrustedOrganisation::pinned));

constexpr auto kTrustStatement = fields<TrustStatement>(
    name("organisation", &TrustStatement::organisation),
    text("name", &TrustStatement::name, 256),
    text("bundle", &TrustStatement::bundle, limits::kMaxBundleBytes),
    RevokedRow{});

constexpr auto kEnrolmentRequest = fields<EnrolmentRequest>(
    CodeRow{},
    text("request", &EnrolmentRequest::request, limits::kMaxRequestBytes));

constexpr auto kEnrolmentAnswer = fields<EnrolmentAnswer>(
    text("certificate", &EnrolmentAnswer::certificate, limits::kMaxChainBytes),
    text("bundle", &EnrolmentAnswer::bundle, limits::kMaxBundleBytes),
    identity("user", &EnrolmentAnswer::user),
    identity("home", &EnrolmentAnswer::home),
    time("not_after_us", &EnrolmentAnswer::not_after));

constexpr auto kNewUser = fields<NewUser>(
    name("name", &NewUser::name),
    defaulted(texts("groups", &NewUser::groups, limits::kMaxGroups, kMaxGroupsBytes)));

constexpr auto kNewToken = fields<NewToken>(
    optional(name("organisation", &NewToken::organisation)),
    defaulted(seconds("lifetime_s", &NewToken::lifetime, 30.0 * 86'400)));

constexpr auto kNewBlock = fields<NewBlock>(
    text("subject", &NewBlock::subject, 256),
    defaulted(text("reason", &NewBlock::reason, kMaxReason)));

constexpr auto kDelegationView = fields<Delegation>(
    id("id", &Delegation::id),
    identity("owner", &Delegation::owner),
    text("application", &Delegation::application, 26),
    boolean("renewal", &Delegation::renewal),
    text("request", &Delegation::request, limits::kMaxChainBytes),
    SignedRow{},
    time("not_after_us", &Delegation::not_after),
    time("created_us", &Delegation::created));

constexpr auto kDelegation = fields<Delegation>(
    kDelegationView,
    text("key", &Delegation::key, limits::kMaxChainBytes),
    text("chain", &Delegation::chain, limits::kMaxChainBytes));
// clang-format on

}  // namespace

Json encode(const Member& member) { return kMember.encode(member); }
Result<Member> decode_member(const Json& json) { return kMember.decode(json); }

Json encode_view(const Member& member) {
    Json json = encode(member);
    json["code_pending"] = !member.code_hash.empty() && member.code_request.empty();
    json.erase("code_hash");
    json.erase("code_request");
    return json;
}

Json encode(const Block& block) { return kBlock.encode(block); }
Result<Block> decode_block(const Json& json) { return kBlock.decode(json); }
Json encode(const AnnouncedBlocks& announced) { return kAnnouncedBlocks.encode(announced); }
Result<AnnouncedBlocks> decode_announced_blocks(const Json& json) { return kAnnouncedBlocks.decode(json); }
Json encode(const TrustedOrganisation& trusted) { return kTrustedOrganisation.encode(trusted); }
Result<TrustedOrganisation> decode_trusted_organisation(const Json& json) { return kTrustedOrganisation.decode(json); }
Json encode(const TrustStatement& statement) { return kTrustStatement.encode(statement); }
Result<TrustStatement> decode_trust_statement(const Json& json) { return kTrustStatement.decode(json); }
Json encode(const EnrolmentRequest& request) { return kEnrolmentRequest.encode(request); }
Result<EnrolmentRequest> decode_enrolment_request(const Json& json) { return kEnrolmentRequest.decode(json); }
Json encode(const EnrolmentAnswer& answer) { return kEnrolmentAnswer.encode(answer); }
Result<EnrolmentAnswer> decode_enrolment_answer(const Json& json) { return kEnrolmentAnswer.decode(json); }
Json encode(const NewUser& user) { return kNewUser.encode(user); }
Result<NewUser> decode_new_user(const Json& json) { return kNewUser.decode(json); }
Json encode(const NewToken& token) { return kNewToken.encode(token); }
Result<NewToken> decode_new_token(const Json& json) { return kNewToken.decode(json); }
Json encode(const NewBlock& block) { return kNewBlock.encode(block); }
Result<NewBlock> decode_new_block(const Json& json) { return kNewBlock.decode(json); }

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

Json encode(const Delegation& delegation) { return kDelegation.encode(delegation); }
Result<Delegation> decode_delegation(const Json& json) { return kDelegation.decode(json); }
Json encode_view(const Delegation& delegation) { return kDelegationView.encode(delegation); }

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
