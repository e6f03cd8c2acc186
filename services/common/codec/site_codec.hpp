#pragma once
#include "services/common/codec/json/json.hpp"
#include "services/common/messages/site.hpp"

/// Records of the organisation, and the messages about it; one encode / decode pair each.
namespace zbs::codec {

Json encode(const Member& member);  ///< as stored; what an operator sees is `encode_view`
Result<Member> decode_member(const Json& json);
Json encode_view(const Member& member);
Json encode(const Block& block);
Result<Block> decode_block(const Json& json);
Json encode(const AnnouncedBlocks& announced);
Result<AnnouncedBlocks> decode_announced_blocks(const Json& json);
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
Result<NewUser> decode_new_user(const Json& json);
/// A registry operator's: a token for a zone of one organisation (empty: any), and how long it works.
struct NewToken {
    std::string organisation;
    Duration lifetime = std::chrono::hours{24};
};
Json encode(const NewToken& token);
Result<NewToken> decode_new_token(const Json& json);
/// And: whom to block, and why.
struct NewBlock {
    std::string subject;
    std::string reason;
};
Result<NewBlock> decode_new_block(const Json& json);
/// A user's wish to hand over a right: for one application, or (none) to renew from.
struct NewDelegation {
    DelegationId id;
    std::string application;
};
/// `otherwise` is the id of a request that names none.
Result<NewDelegation> decode_new_delegation(const Json& json, const DelegationId& otherwise);
/// `{"draining": true}`.
Result<bool> decode_drain(const Json& json);
/// What the user signed: `{"chain": PEM}`.
Result<std::string> decode_proxy_chain(const Json& json);
Json encode(const Delegation& delegation);  ///< as stored, with its key
Result<Delegation> decode_delegation(const Json& json);
Json encode_view(const Delegation& delegation);  ///< without

}  // namespace zbs::codec
