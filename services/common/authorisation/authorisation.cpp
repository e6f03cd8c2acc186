#include "services/common/authorisation/authorisation.hpp"

#include <array>

namespace zbs {
namespace {

using Verdict = Decision::Verdict;

Decision denied(std::string reason) { return {Verdict::kDenied, std::move(reason)}; }

bool is_proxy(const PeerIdentity& subject) { return subject.via_proxy() || subject.via_limited_proxy(); }

std::string why_anonymous(const PeerIdentity& subject) {
    if (!subject.refusal().empty()) return "what came with the call does not count: " + subject.refusal();
    if (is_proxy(subject)) return "proxies speak for users only; come with the certificate itself";
    return "say who you are: no certificate came with the call; users get one with 'zbs login'";
}

std::string roles_text(unsigned roles) {
    std::string text;
    for (int i = 0; i < kRoleCount; ++i) {
        const auto role = static_cast<Role>(i);
        if ((roles & bit(role)) != 0) text += (text.empty() ? "" : ", ") + std::string(to_string(role));
    }
    return text;
}

/// "change peering" of the operation changePeering.
std::string words_of(std::string_view operation_id) {
    std::string words;
    for (const char c : operation_id)
        words += c >= 'A' && c <= 'Z' ? std::string{' ', static_cast<char>(c - 'A' + 'a')} : std::string(1, c);
    return words;
}

/// Users' things belong to the organisation of the site that keeps them.
bool is_kept_here(const Object& object, const Site& site) {
    return object.owner.organisation == site.organisation &&
           (object.home_zone.empty() || object.home_zone == site.name);
}

/// Whether the caller may know of the object at all.
bool may_see(const Caller& caller, Role role, const Object& object, const Site& site) {
    if (object.owner.kind == CallerKind::kAnonymous) return false;
    switch (object.kind) {
        case ObjectKind::kApplication:
        case ObjectKind::kProfile:
        case ObjectKind::kDelegation:
        case ObjectKind::kUser:
            if (!is_kept_here(object, site)) return false;
            return role == Role::kOwnOperator || object.owner == caller;
        case ObjectKind::kPart:
        case ObjectKind::kZoneEntry:
        case ObjectKind::kNode:
            return object.owner == caller;
        case ObjectKind::kPeering:
        case ObjectKind::kService:
            break;
    }
    return false;
}

using enum Action;
using enum ObjectKind;
using enum Ownership;
using enum Channel;

constexpr unsigned kAnyone = (1U << static_cast<unsigned>(kRoleCount)) - 1;
constexpr unsigned kIdentified = kAnyone & ~bit(Role::kAnonymous);
constexpr unsigned kUsers = bit(Role::kOwnUser);
constexpr unsigned kOperators = bit(Role::kOwnOperator);
constexpr unsigned kInsider = kUsers | kOperators;
/// Zones whose work is taken.
constexpr unsigned kAcceptedZone = bit(Role::kOwnZone) | bit(Role::kKnownZone);
/// Also zones that were accepted once: what they hold they may watch and give back.
constexpr unsigned kAnyZone = kAcceptedZone | bit(Role::kStrangerZone);
/// Who has no certificate yet, and the people who try on the operator's machine: the one-time code decides.
constexpr unsigned kNewcomer = bit(Role::kAnonymous) | kInsider;
constexpr unsigned kEnrolledZone = bit(Role::kKnownZone);

constexpr unsigned kAtZone = bit(ServiceKind::kZone);
constexpr unsigned kAtRegistry = bit(ServiceKind::kRegistry);
constexpr unsigned kAtNode = bit(ServiceKind::kNode);

constexpr ActionRule all(Action action, std::string_view id, unsigned roles) {
    return {action, id, kAtZone | kAtRegistry | kAtNode, kService, roles, kAny, kAnything};
}
constexpr ActionRule both(Action action, std::string_view id, unsigned roles) {
    return {action, id, kAtZone | kAtRegistry, kService, roles, kAny, kAnything};
}
constexpr ActionRule zone(Action action, std::string_view id, unsigned roles, Channel channel,
                          ObjectKind object = kService, Ownership ownership = kAny) {
    return {action, id, kAtZone, object, roles, ownership, channel};
}
constexpr ActionRule registry(Action action, std::string_view id, unsigned roles, Channel channel,
                              ObjectKind object = kService, Ownership ownership = kAny) {
    return {action, id, kAtRegistry, object, roles, ownership, channel};
}
/// What an agent does for its zone.
constexpr ActionRule node(Action action, std::string_view id) {
    return {action, id, kAtNode, kService, bit(Role::kKnownZone), kAny, kCertificate};
}

constexpr std::array kRules = {
    all(kGetLive, "getLive", kAnyone),
    all(kGetReady, "getReady", kAnyone),
    all(kGetHealth, "getHealth", kAnyone),
    all(kGetContract, "getContract", kAnyone),
    both(kGetTrust, "getTrust", kAnyone),
    both(kWhoAmI, "whoAmI", kIdentified),

    zone(kScheduleApplication, "scheduleApplication", kUsers, kFullProxy),
    zone(kListApplications, "listApplications", kInsider, kAnything),
    zone(kCountApplications, "countApplications", kInsider, kAnything),
    zone(kGetApplication, "getApplication", kInsider, kAnything, kApplication, kOwn),
    zone(kCancelApplication, "cancelApplication", kInsider, kFullProxy, kApplication, kOwn),
    zone(kGetAssignment, "getAssignment", kInsider, kAnything, kApplication, kOwn),
    zone(kExplainApplication, "explainApplication", kInsider, kAnything, kApplication, kOwn),
    zone(kWatchApplication, "watchApplication", kInsider, kAnything, kApplication, kOwn),
    zone(kWatchEvents, "watchEvents", kInsider, kAnything),
    zone(kListLogs, "listLogs", kInsider, kAnything, kApplication, kOwn),
    zone(kReadLog, "readLog", kInsider, kAnything, kApplication, kOwn),
    zone(kListResults, "listResults", kInsider, kAnything, kApplication, kOwn),
    zone(kReadResult, "readResult", kInsider, kAnything, kApplication, kOwn),
    zone(kGetFile, "getFile", kUsers, kFullProxy),
    zone(kPutFile, "putFile", kUsers, kFullProxy),
    zone(kListProfiles, "listProfiles", kInsider, kAnything),
    zone(kImportProfile, "importProfile", kUsers, kFullProxy),
    zone(kGetProfile, "getProfile", kInsider, kAnything, kProfile, kOwn),
    zone(kListNodes, "listNodes", kInsider, kAnything),
    zone(kListQueue, "listQueue", kInsider, kAnything),
    zone(kListLinks, "listLinks", kInsider, kAnything),

    zone(kAskCapacity, "askCapacity", kAcceptedZone, kCertificate),
    zone(kScheduleCluster, "scheduleCluster", kAcceptedZone, kCertificate),
    zone(kGetPart, "getPart", kAnyZone, kCertificate, kPart, kOwn),
    zone(kReleasePart, "releasePart", kAnyZone, kCertificate, kPart, kOwn),
    zone(kCommitPart, "commitPart", kAcceptedZone, kCertificate, kPart, kOwn),
    zone(kLaunchPart, "launchPart", kAcceptedZone, kCertificate, kPart, kOwn),
    zone(kGetPartProfile, "getPartProfile", kAnyZone, kCertificate, kPart, kOwn),
    zone(kStagePart, "stagePart", kAcceptedZone, kCertificate, kPart, kOwn),
    zone(kPutPartFile, "putPartFile", kAcceptedZone, kCertificate, kPart, kOwn),
    zone(kListPartResults, "listPartResults", kAnyZone, kCertificate, kPart, kOwn),
    zone(kReadPartResult, "readPartResult", kAnyZone, kCertificate, kPart, kOwn),

    zone(kRequestPeering, "requestPeering", kAnyZone | bit(Role::kAnonymous), kCertificate),
    zone(kListPeerings, "listPeerings", kInsider, kAnything),
    zone(kGetPeering, "getPeering", kInsider, kAnything, kPeering),
    zone(kChangePeering, "changePeering", kOperators, kCertificate, kPeering),
    zone(kRemovePeering, "removePeering", kOperators, kCertificate, kPeering),

    zone(kRequestEnrolment, "requestEnrolment", kNewcomer, kCertificate),
    zone(kRenewCertificate, "renewCertificate", kUsers, kCertificate),
    zone(kCreateUser, "createUser", kOperators, kCertificate),
    zone(kListUsers, "listUsers", kOperators, kCertificate),
    zone(kRevokeUser, "revokeUser", kOperators, kCertificate, kUser, kOwn),
    zone(kBlockSubject, "blockSubject", kOperators, kCertificate),
    zone(kUnblockSubject, "unblockSubject", kOperators, kCertificate),
    zone(kListBlocks, "listBlocks", kOperators, kCertificate),

    zone(kRequestDelegation, "requestDelegation", kUsers, kFullProxy),
    zone(kPutDelegation, "putDelegation", kUsers, kFullProxy, kDelegation, kOwn),
    zone(kGetDelegation, "getDelegation", kUsers, kFullProxy, kDelegation, kOwn),
    zone(kDeleteDelegation, "deleteDelegation", kUsers, kFullProxy, kDelegation, kOwn),

    ActionRule{kReadAudit, "readAudit", kAtZone | kAtRegistry, kService, kOperators, kAny, kCertificate},
    ActionRule{kGetMetrics, "getMetrics", kAtZone | kAtRegistry, kService, kInsider, kAny, kAnything},
    zone(kGetDrain, "getDrain", kOperators, kCertificate),
    zone(kSetDrain, "setDrain", kOperators, kCertificate),
    zone(kRegisterNode, "registerNode", bit(Role::kOwnNode), kCertificate, ObjectKind::kNode, kOwn),
    zone(kGetDashboard, "getDashboard", kAnyone, kAnything),
    zone(kGetDashboardAsset, "getDashboardAsset", kAnyone, kAnything),

    registry(kCreateEnrolmentToken, "createEnrolmentToken", kOperators, kCertificate),
    registry(kEnrolZone, "enrolZone", kAnyZone | bit(Role::kAnonymous), kCertificate),
    registry(kPublishZone, "publishZone", kEnrolledZone, kCertificate, kZoneEntry, kOwn),
    registry(kRenewZone, "renewZone", kEnrolledZone, kCertificate, kZoneEntry, kOwn),
    registry(kLeaveZone, "leaveZone", kEnrolledZone, kCertificate, kZoneEntry, kOwn),
    registry(kListZones, "listZones", kEnrolledZone | kOperators, kCertificate),
    registry(kListEnrolments, "listEnrolments", kOperators, kCertificate),
    registry(kRemoveEnrolment, "removeEnrolment", kOperators, kCertificate),
    registry(kRemoveOrganisation, "removeOrganisation", kOperators, kCertificate),

    node(kGetNode, "getNode"),
    node(kStartStep, "startStep"),
    node(kListSteps, "listSteps"),
    node(kStopStep, "stopStep"),
    node(kRemoveStep, "removeStep"),
    node(kListStepFiles, "listStepFiles"),
    node(kReadStepFile, "readStepFile"),
    node(kFindInput, "findInput"),
    node(kPutInput, "putInput"),
    node(kSetSlices, "setSlices"),
    node(kSetShares, "setShares"),
    node(kProbeNode, "probeNode"),
    // The only thing that an agent does for another one.
    ActionRule{kGetProbe, "getProbe", kAtNode, kService, bit(Role::kOwnNode), kAny, kCertificate},
};

constexpr bool is_in_order() {
    for (std::size_t i = 0; i < kRules.size(); ++i) {
        if (static_cast<std::size_t>(kRules[i].action) != i) return false;
    }
    return kRules.size() == static_cast<std::size_t>(kActionCount);
}
static_assert(is_in_order(), "one line per action, in the order of the enumeration");

}  // namespace

Role role_of(const PeerIdentity& subject, const Site& site) {
    if (subject.evidence() == Evidence::kNone) return Role::kAnonymous;
    if (is_proxy(subject) && subject.name().kind != CallerKind::kUser) return Role::kAnonymous;
    const bool own = subject.name().organisation == site.organisation;
    switch (subject.name().kind) {
        case CallerKind::kAnonymous:
            return Role::kAnonymous;
        case CallerKind::kUser:
            return own ? Role::kOwnUser : Role::kForeignUser;
        case CallerKind::kOperator:
            return own ? Role::kOwnOperator : Role::kForeignOperator;
        case CallerKind::kZone:
            // A registry knows zones by their enrolment only, also those of its own organisation.
            if (own && site.service == ServiceKind::kZone) return Role::kOwnZone;
            // An agent serves one zone, and never one of another organisation.
            if (!own && site.service == ServiceKind::kNode) return Role::kStrangerZone;
            return site.accepts_subject ? Role::kKnownZone : Role::kStrangerZone;
        case CallerKind::kRegistry:
            return Role::kRegistry;
        case CallerKind::kNode:
            return own ? Role::kOwnNode : Role::kForeignNode;
    }
    return Role::kAnonymous;
}

Result<void> to_result(const Decision& decision) {
    switch (decision.verdict) {
        case Verdict::kAllow:
            return {};
        case Verdict::kUnauthenticated:
            return Error{ErrorCode::kUnauthenticated, decision.reason, {}};
        case Verdict::kNotFound:
            return Error{ErrorCode::kNotFound, decision.reason, {}};
        case Verdict::kDenied:
            break;
    }
    return Error{ErrorCode::kDenied, decision.reason, {}};
}

Decision authorise(const PeerIdentity& subject, Action action, const Object& object, const Site& site) {
    const ActionRule* rule = find_rule(action);
    if (rule == nullptr || (rule->services & bit(site.service)) == 0)
        return denied("this service has no such operation");
    const std::string words = words_of(rule->operation_id), what = "'" + words + "'";

    const Role role = role_of(subject, site);
    if ((rule->roles & bit(role)) == 0) {
        if (role == Role::kAnonymous) return {Verdict::kUnauthenticated, why_anonymous(subject)};
        const bool is_peer = role == Role::kStrangerZone && site.service == ServiceKind::kZone;
        return denied((is_peer ? "organisation " + subject.name().organisation + " is not accepted here now; " : "") +
                      "only " + roles_text(rule->roles) + " may " + words);
    }
    if (is_proxy(subject) && rule->channel == Channel::kCertificate)
        return denied(what + " needs the certificate itself; a proxy is not enough");
    if (subject.via_limited_proxy() && rule->channel == Channel::kFullProxy)
        return denied(what + " is more than a limited proxy may do; make a full one");

    if (object.kind != rule->object) return denied(what + " is not about such an object");
    if (rule->ownership == Ownership::kOwn && !may_see(subject.name(), role, object, site))
        return {Verdict::kNotFound, "there is nothing of yours under this name; list what you have"};
    return {Verdict::kAllow, "allowed for " + std::string(to_string(role))};
}

const ActionRule* find_rule(Action action) {
    const auto index = static_cast<std::size_t>(action);
    return index < kRules.size() ? &kRules[index] : nullptr;
}

std::string_view to_string(Action action) {
    const ActionRule* rule = find_rule(action);
    return rule == nullptr ? "unknown" : rule->operation_id;
}

std::optional<Action> find_action(std::string_view operation_id) {
    for (const ActionRule& rule : kRules) {
        if (rule.operation_id == operation_id) return rule.action;
    }
    return std::nullopt;
}

}  // namespace zbs
