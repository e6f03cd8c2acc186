#pragma once
#include <string>
#include <vector>

#include "services/common/codec/json/json.hpp"
#include "services/common/messages/site.hpp"

/// Records of the organisation, and the messages about it; one encode / decode pair each.
namespace zbs::codec {

Json encode(const Member& member);  ///< as stored; what an operator sees is `encode_view`
Result<Member> decode_member(const Json& json);
Json encode_view(const Member& member);
/// The same as of now: her standing as a word, and whether a code of hers still works.
struct MemberRow {
    Member member;
    std::string standing;
    bool code_pending = false;
};
Json encode(const MemberRow& row);
Json encode_users(const std::vector<MemberRow>& rows);
/// A user who was made, with the token that she joins by.
struct InvitedUser {
    std::string name;
    std::string token;
    Time expires{};
    bool operator==(const InvitedUser&) const = default;
};
Json encode(const InvitedUser& user);
/// The token alone, of any value.
std::string decode_invitation(const Json& json);
Json encode(const Block& block);
Result<Block> decode_block(const Json& json);
Json encode(const AnnouncedBlocks& announced);
Result<AnnouncedBlocks> decode_announced_blocks(const Json& json);
/// Users, as a command shows them. Any value is accepted, also one of another release: a member that is absent or of
/// another type gives the default. So do the other views.
struct UserView {
    std::string name, standing;
    bool code_pending = false;
    Time code_expires{}, added{};
    std::size_t certificates = 0;
    std::vector<std::string> groups;
    Json item;  ///< as it was sent
};
UserView decode_user_view(const Json& user);
std::vector<UserView> decode_users(const Json& answer);
/// The answer to a block; `known`: a user or an organisation of this name was seen before.
Json encode_created(const Block& block, bool known);
/// A subject that another zone blocks.
struct AnnouncedBlock {
    std::string subject;
    std::string announcer;  ///< a URI
};
Json encode_blocks(const std::vector<Block>& own, const std::vector<AnnouncedBlock>& announced);
/// A block, as a command shows it; either `by` or `announced_by` is empty.
struct BlockView {
    std::string subject, reason, by, announced_by;
    Time at{};
    bool known = true;
    Json item;  ///< as it was sent
};
BlockView decode_block_view(const Json& block);
/// Own ones first.
std::vector<BlockView> decode_blocks(const Json& answer);
/// The answer to an end of a block: `announcers` block it still.
Json encode_unblocked(const std::string& subject, const std::vector<std::string>& announcers);
std::vector<std::string> decode_announcers(const Json& answer);
Json encode(const TrustedOrganisation& trusted);
Result<TrustedOrganisation> decode_trusted_organisation(const Json& json);
Json encode(const TrustStatement& statement);
Result<TrustStatement> decode_trust_statement(const Json& json);
Json encode(const EnrolmentRequest& request);
Result<EnrolmentRequest> decode_enrolment_request(const Json& json);
Json encode(const EnrolmentAnswer& answer);
Result<EnrolmentAnswer> decode_enrolment_answer(const Json& json);
/// An operator's wish: a user and her groups.
struct NewUser {
    std::string name;
    std::vector<std::string> groups;
};
Json encode(const NewUser& user);
Result<NewUser> decode_new_user(const Json& json);
/// A registry operator's: a token for a zone of one organisation (empty: any), and how long it works.
struct NewToken {
    OrganisationName organisation;
    Duration lifetime = std::chrono::hours{24};
};
Json encode(const NewToken& token);
Result<NewToken> decode_new_token(const Json& json);
/// And: whom to block, and why.
struct NewBlock {
    std::string subject;
    std::string reason;
};
Json encode(const NewBlock& block);
Result<NewBlock> decode_new_block(const Json& json);
/// A user's wish to hand over a right: for one application, or (none) to renew from.
struct NewDelegation {
    DelegationId id;
    std::string application;
};
/// `otherwise` is the id of a request that names none.
Result<NewDelegation> decode_new_delegation(const Json& json, const DelegationId& otherwise);
/// `{"draining": true}`.
Json encode_drain(bool on);
Result<bool> decode_drain(const Json& json);
/// What the user signed: `{"chain": PEM}`.
Result<std::string> decode_proxy_chain(const Json& json);
Json encode(const Delegation& delegation);  ///< as stored, with its key
Result<Delegation> decode_delegation(const Json& json);
Json encode_view(const Delegation& delegation);  ///< without
Json encode_removed(const DelegationId& id);

}  // namespace zbs::codec
