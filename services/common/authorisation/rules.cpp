#include "services/common/authorisation/rules.hpp"

#include <array>

namespace zbs {
namespace {

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
