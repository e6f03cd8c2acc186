#pragma once
#include <optional>
#include <string_view>

namespace zbs {

/// One per operation of the contracts of zone, registry and node agent, in the words of its operationId.
enum class Action {
    // every service
    kGetLive,
    kGetReady,
    kGetHealth,
    kGetContract,
    // zone and registry
    kGetTrust,
    kWhoAmI,
    // zone: applications of the own users
    kScheduleApplication,
    kListApplications,
    kCountApplications,
    kGetApplication,
    kCancelApplication,
    kGetAssignment,
    kExplainApplication,
    kWatchApplication,
    kWatchEvents,
    kListLogs,
    kReadLog,
    kListResults,
    kReadResult,
    kGetFile,
    kPutFile,
    kListProfiles,
    kImportProfile,
    kGetProfile,
    kListNodes,
    kListQueue,
    kListLinks,
    // zone: parts for other zones
    kAskCapacity,
    kScheduleCluster,
    kGetPart,
    kReleasePart,
    kCommitPart,
    kLaunchPart,
    kGetPartProfile,
    kStagePart,
    kPutPartFile,
    kListPartResults,
    kReadPartResult,
    // zone: peerings
    kRequestPeering,
    kListPeerings,
    kGetPeering,
    kChangePeering,
    kRemovePeering,
    // zone: people and their certificates
    kRequestEnrolment,
    kRenewCertificate,
    kCreateUser,
    kListUsers,
    kRevokeUser,
    kBlockSubject,
    kUnblockSubject,
    kListBlocks,
    // zone: delegations
    kRequestDelegation,
    kPutDelegation,
    kGetDelegation,
    kDeleteDelegation,
    // zone: operation
    kReadAudit,  // also of a registry
    kGetMetrics,
    kGetDrain,
    kSetDrain,
    kRegisterNode,
    // zone: its pages
    kGetDashboard,
    kGetDashboardAsset,
    // registry
    kCreateEnrolmentToken,
    kEnrolZone,
    kPublishZone,
    kRenewZone,
    kLeaveZone,
    kListZones,
    kListEnrolments,
    kRemoveEnrolment,
    kRemoveOrganisation,
    // node agent
    kGetNode,
    kStartStep,
    kListSteps,
    kStopStep,
    kRemoveStep,
    kListStepFiles,
    kReadStepFile,
    kFindInput,
    kPutInput,
    kSetSlices,
    kSetShares,
    kProbeNode,
    kGetProbe,
};
inline constexpr int kActionCount = static_cast<int>(Action::kGetProbe) + 1;

/// The operationId, e.g. "scheduleApplication".
std::string_view to_string(Action action);
/// None for a word that names no action.
std::optional<Action> find_action(std::string_view operation_id);

}  // namespace zbs
