#pragma once
#include <optional>
#include <string>
#include <vector>

#include "algorithms/base/ids.hpp"
#include "algorithms/base/time.hpp"
#include "services/common/messages/names/identity.hpp"
#include "services/common/messages/names/name_types.hpp"

namespace zbs {

/// A certificate that an organisation gave out.
struct IssuedCertificate {
    std::string serial;  ///< lower-case hexadecimal
    Time not_after{};
    std::optional<Time> revoked;
    bool operator==(const IssuedCertificate&) const = default;
};

/// A user of the own organisation.
struct Member {
    std::string name;
    std::vector<std::string> groups;
    Time added{};
    std::string code_hash;     ///< SHA-256 of the one-time code, hexadecimal; empty: none
    std::string code_request;  ///< digest of the request that used it; only that one may come again
    Time code_expires{};
    bool revoked = false;
    std::vector<IssuedCertificate> certificates;  ///< those that have not run out
    bool operator==(const Member&) const = default;
};

/// Somebody who gets nothing here: a whole organisation (a bare name) or one subject (`spiffe://...`).
struct Block {
    std::string subject;
    std::string reason;
    std::string by;  ///< who set it: an operator, or the zone whose block was taken over
    Time at{};
    bool operator==(const Block&) const = default;
};

/// Whom another zone refuses, as far as that counts here; its newest word.
struct AnnouncedBlocks {
    std::string announcer;              ///< the zone that said so
    std::vector<std::string> subjects;  ///< as `Block::subject`
    bool operator==(const AnnouncedBlocks&) const = default;
};

/// An organisation whose certificates are believed: its bundle, and its newest revocation list.
struct TrustedOrganisation {
    OrganisationName organisation;
    std::string bundle;       ///< PEM
    std::string revocations;  ///< CRL, PEM; empty before there was one
    Time pinned{};
    bool operator==(const TrustedOrganisation&) const = default;
};

/// A service's statement about its organisation. Name and bundle are for everybody; the list of blocked subjects is
/// not.
struct TrustStatement {
    OrganisationName organisation;
    std::string name;  ///< of the service, as a URI
    std::string bundle;
    std::string revocations;  ///< empty where nothing was revoked yet
    /// Own subjects that lost everything, and foreign ones that get nothing here. Absent: hidden from the reader, which
    /// is another thing than nobody.
    std::optional<std::vector<std::string>> blocked;
    bool operator==(const TrustStatement&) const = default;
};

/// What a joining user sends: the code from her operator, and the request (PKCS #10, PEM) for her own key.
struct EnrolmentRequest {
    std::string name;  ///< whom the operator's token names; empty with an empty code
    std::string code;  ///< empty where she renews a certificate that she has
    std::string request;
    bool operator==(const EnrolmentRequest&) const = default;
};
/// What she gets.
struct EnrolmentAnswer {
    std::string certificate;  ///< PEM, leaf first
    std::string bundle;       ///< of her organisation
    Caller user;
    Caller home;  ///< the zone that must answer at her home's address
    Time not_after{};
    bool operator==(const EnrolmentAnswer&) const = default;
};

/// A user hands home the right to act for one application (or, `renewal`, to sign such rights herself for a while).
struct Delegation {
    DelegationId id;
    Caller owner;
    std::string application;  ///< id; empty for a renewal delegation
    bool renewal = false;
    std::string key;      ///< PEM; made here, never leaves, wiped with the record
    std::string request;  ///< PKCS #10, PEM
    std::string chain;    ///< PEM; empty until the user has signed
    Time not_after{};     ///< of `chain`
    Time created{};
    bool operator==(const Delegation&) const = default;
};

/// An account of a pool, given to a user until somebody else needs it more.
struct PoolLease {
    AccountName account;
    Caller user;
    Time last_used{};
    bool busy = false;  ///< the user has a part held or running
    bool used = false;  ///< something of the user has run in it
    bool operator==(const PoolLease&) const = default;
};

/// What a record is stored under.
inline std::string key_of(const Member& member) { return member.name; }
inline std::string key_of(const Block& block) { return block.subject; }
inline std::string key_of(const AnnouncedBlocks& announced) { return announced.announcer; }
inline std::string key_of(const TrustedOrganisation& trusted) { return trusted.organisation; }
inline std::string key_of(const PoolLease& lease) { return lease.account; }
inline std::string key_of(const Delegation& delegation) { return to_string(delegation.id); }

}  // namespace zbs
