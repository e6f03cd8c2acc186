#pragma once
#include "services/common/messages/capacity.hpp"
#include "services/common/messages/names/owned_id.hpp"
#include "services/common/messages/registry.hpp"
#include "services/common/messages/site.hpp"
#include "services/common/ports/storage/zone_store.hpp"

/// One value of every message, with every field set to something that is not its default.
namespace zbs::test {

inline Id128 some_id(std::uint64_t low) { return make_id128(1'700'000'000'000, 7, low); }
inline Id128 some_id_of(const Caller& owner, std::uint64_t low) { return marked(some_id(low << 32), owner); }
inline Caller some_user() { return {CallerKind::kUser, "alpha", "ana"}; }
inline Caller some_zone() { return {CallerKind::kZone, "alpha", "alpha-one"}; }

inline TaskGraph ring_graph(TaskIndex ranks) {
    std::vector<TaskEdge> edges;
    for (TaskIndex r = 0; r + 1 < ranks; ++r) edges.push_back({r, r + 1, 1024.5 * (r + 1), 3});
    if (ranks > 2) edges.push_back({0, ranks - 1, 1e15, 2});
    Result<TaskGraph> graph =
        TaskGraph::make(std::vector<double>(static_cast<std::size_t>(ranks), 0.1), std::move(edges));
    return *std::move(graph);
}
inline ApplicationModel some_model(TaskIndex ranks = 4, std::string program = "./ring") {
    return {std::move(program), false, ring_graph(ranks)};
}

inline StateEvent some_event() {
    return {.id = INT64_MAX,
            .at = time_from_microseconds(1'700'000'000'000'000),
            .application = {some_id(1)},
            .owner = some_user(),
            .state = "held",
            .reason = "a \"reason\"\n\nin three lines"};
}
inline StateEvent some_part_event() {
    return {.id = 1, .at = {}, .application = {some_id(1)}, .part = PartId{some_id(2)}, .state = "released"};
}
inline PartStatus some_part_status() {
    return {.id = {some_id(2)},
            .zone = "beta-one",
            .state = PartState::kFailed,
            .token = 99,
            .expires_in = std::chrono::milliseconds{1500},
            .starts_in = std::chrono::seconds{3},
            .ready = false,
            .assignment = {{0, "node-1", 3}, {3, "node-2", 0}},
            .reason = "node-2 went \"away\"\n",
            .exit_code = 139,
            .can_profile = true,
            .has_profile = true,
            .work = StepWork::kMixed,
            .grace = std::chrono::seconds{5}};
}
inline PartRequest some_part_request() {
    return {.id = {some_id(2)},
            .application = {some_id(1)},
            .user = some_user(),
            .home = "alpha-one",
            .ranks = {0, 3},
            .graph = ring_graph(2),
            .outside = {{"alpha-one", 1e30, 7}, {"gamma", 0, 0}},
            .walltime = std::chrono::seconds{90},
            .seed = INT64_MAX,
            .start_in = std::chrono::milliseconds{2500},
            .replaces = PartId{some_id(9)},
            .priority = 0,
            .share = 5,
            .partition = "batch",
            .staging = StagingNeed{.bytes = 9, .largest = 9, .file_system = "lustre"},
            .grace = std::chrono::milliseconds{1500},
            .overcommit = 2};
}
inline PartRequest some_delegated_part_request() {
    PartRequest request = some_part_request();
    request.delegation = DelegationProof{"part 1", "-----BEGIN CERTIFICATE-----\n", "c2ln"};
    return request;
}
inline ApplicationRequest some_application_request() {
    return {.id = {some_id(1)},
            .name = "ring <b>\"1\"</b> ä",
            .ranks = 4,
            .argv = {"./ring", "", "ä\"\\\t"},
            .directory = "/home/ana",
            .environment = {{"A", ""}, {"LANG", "C.UTF-8"}},
            .walltime = std::chrono::microseconds{2'500'001},
            .model = some_model(),
            .mapper = "block",
            .seed = 42,
            .zones = {"alpha-one", "beta-one"},
            .partition = "debug",
            .profile = false,
            .use_profile = false,
            .priority = 9,
            .share = 95,
            .grace = std::chrono::seconds{7},
            .overcommit = 4};
}
inline ApplicationPlan some_plan() {
    return {.profile = "request",
            .clusters = {{0, 1}, {2, 3}},
            .zone_of_cluster = {"alpha-one", "beta-one"},
            .zone_of_rank = {"alpha-one", "alpha-one", "beta-one", "beta-one"},
            .zones = {{"alpha-one", 2, 2, "", {}, 3},
                      {"gamma", 0, 0, "refused: \u00fcber",
                       ZoneVerdict::StartRange{std::chrono::seconds{1}, std::chrono::seconds{2}}}},
            .round = 3,
            .start_in = std::chrono::seconds{2},
            .crossing_bytes = 0.1,
            .crossing_bytes_block = 1e20,
            .crossing_bytes_round_robin = 0,
            .learned = "merged from 3 runs",
            .digest = std::string(64, 'a'),
            .predicted = std::chrono::milliseconds{1'500}};
}
inline ApplicationStatus some_application_status() {
    return {.state = ApplicationState::kRunning,
            .reason = "because",
            .exit_code = 255,
            .history = {{ApplicationState::kAccepted, time_from_microseconds(1)},
                        {ApplicationState::kRunning, time_from_microseconds(INT64_MAX)}},
            .plan = some_plan(),
            .parts = {{{some_id(2)}, "beta-one", {0, 3}, some_part_status(), PartId{some_id(9)}, false, 2}},
            .releasing = {{{some_id(3)}, "gamma", {1}, {.id = {some_id(3)}}}},
            .launcher_step = "op-1",
            .cancel_requested = true,
            .cancelled_by = "olga",
            .stop_reason = "stop",
            .profile = ProfileId{some_id(4)},
            .start = time_from_microseconds(12),
            .queue_start = time_from_microseconds(14),
            .events = {
                {time_from_microseconds(1), time_from_microseconds(3), 2, 1, "gamma", "hold", "no \"room\"", false}}};
}
inline Application some_application() { return {some_user(), some_application_request(), some_application_status()}; }
inline PartRecord some_part_record() {
    return {.home_caller = some_zone(),
            .request = some_part_request(),
            .status = some_part_status(),
            .operation = "op-1",
            .processors = {4, 0},
            .proxies = {0, 2},
            .profile = true,
            .starts_at = time_from_microseconds(13)};
}
inline LaunchRequest some_srun_launch() {
    LaunchRequest request{
        .token = 7, .operation = "run-x", .proxies = {{0, "n1"}}, .profile = false, .launcher = Launcher::kSrunPmi2};
    request.program = {{"/bin/solver", "-v"}, "/work", {{"A", "b"}}};
    return request;
}
inline LaunchRequest some_launch() {
    return {.token = 99,
            .operation = "OP-1",
            .options = {{"control-port", "127.0.0.1:1"}, {"rmk", "user"}},
            .proxies = {{0, "node-1"}, {2, "node-2"}},
            .profile = false};
}
inline CapacityRequest some_capacity_request() {
    return {some_user(),
            8,
            std::chrono::seconds{60},
            {"beta-one"},
            {},
            ApplicationId{some_id(1)},
            50,
            "debug",
            StagingNeed{7, 5, "lustre"},
            {},
            std::chrono::seconds{8},
            {{.processors = 4,
              .walltime = std::chrono::seconds{90},
              .without = ApplicationId{some_id(2)},
              .share = 20,
              .partition = "batch"}}};
}
inline Capacity some_capacity() {
    return {.zone = "beta-one",
            .processors = 3,
            .total_processors = 8,
            .speed_sum = 4.5,
            .speed_mean = 1.5,
            .speed_variance = 0.25,
            .largest_machine = 2,
            .within_zone = {1e-5, 1e9},
            .links = {{"alpha-one", {0.02, 5e7}}},
            .windows = {{std::chrono::seconds{5}, std::chrono::seconds{2}, 4, 6, 1.5, 0.25, 2},
                        {std::chrono::seconds{9}, std::chrono::seconds{9}, 0, 0, 0, 0, 0}},
            .max_overcommit = 5,
            .others = {{.processors = 1, .total_processors = 8, .speed_sum = 1.5, .largest_machine = 1}}};
}
inline ZoneEntry some_entry() {
    return {.name = "beta-one",
            .organisation = "beta",
            .contact = "ops@beta",
            .url = "https://[::1]:8443",
            .categories = {"mpi", "gpu"},
            .interface_version = 2,
            .lease = std::chrono::seconds{40},
            .standing = ZoneStanding::kDrain,
            .issued = time_from_microseconds(5),
            .bundle = "-----BEGIN CERTIFICATE-----\n"};
}
inline SignedText some_signed_text() { return {"{\"name\":\"beta-one\"}", "-----BEGIN CERTIFICATE-----\n", "c2ln"}; }
inline EnrolledZone some_enrolled_zone(const ZoneName& name = "beta-one") {
    return {name, "beta", some_signed_text(), std::chrono::seconds{40}};
}
inline EnrolmentRight some_enrolment_right(const std::string& hash = "ab") {
    return {hash, "beta", time_from_microseconds(7), "spiffe://beta/zone/beta-one"};
}
inline Member some_member() {
    return {.name = "ana",
            .groups = {"chem", "physics"},
            .added = time_from_microseconds(1),
            .code_hash = "ab",
            .code_request = "cd",
            .code_expires = time_from_microseconds(2),
            .revoked = true,
            .certificates = {{"0a", time_from_microseconds(3), std::nullopt},
                             {"0b", time_from_microseconds(4), time_from_microseconds(5)}}};
}
inline Block some_block() {
    return {"spiffe://beta/user/eve", "lost her key", "spiffe://alpha/operator/oscar", time_from_microseconds(6)};
}
inline TrustedOrganisation some_trusted_organisation(const OrganisationName& name = "beta") {
    return {name, "-----BEGIN CERTIFICATE-----\n", "-----BEGIN X509 CRL-----\n", time_from_microseconds(8)};
}
inline TrustStatement some_trust_statement() {
    return {"beta", "spiffe://beta/zone/beta-one", "bundle", "list",
            std::vector<std::string>{"spiffe://beta/user/eve", "gamma"}};
}
inline EnrolmentRequest some_enrolment_request() { return {"eve", "code", "-----BEGIN CERTIFICATE REQUEST-----\n"}; }
inline EnrolmentAnswer some_enrolment_answer() {
    return {"certificate", "bundle", some_user(), some_zone(), time_from_microseconds(9)};
}
inline Delegation some_delegation() {
    return {.id = {some_id(5)},
            .owner = some_user(),
            .application = to_string(ApplicationId{some_id(1)}),
            .renewal = true,
            .key = "key",
            .request = "request",
            .chain = "chain",
            .not_after = time_from_microseconds(10),
            .created = time_from_microseconds(11)};
}
inline Peer some_peer() {
    return {.zone = "beta-one",
            .organisation = "beta",
            .url = "http://127.0.0.1:8",
            .outbound = PeeringState::kAccepted,
            .inbound = PeeringState::kRejected,
            .reason = "not listed",
            .last_heard = time_from_microseconds(123),
            .leased_until = time_from_microseconds(456),
            .condition = PeerCondition{PeerState::kRefusesUs, std::chrono::seconds{3}, -std::chrono::seconds{75}},
            .categories = {{"mpi", "policy=easy"}}};
}
inline Profile some_profile(std::uint64_t low, bool complete = true, TaskIndex ranks = 4) {
    Profile profile{
        {some_id(low)}, some_user(), ApplicationId{some_id(1)}, time_from_microseconds(5), some_model(ranks)};
    profile.model.complete = complete;
    return profile;
}
inline ProfileRow some_profile_row() {
    Profile profile = some_profile(7);
    profile.digest = std::string(64, 'b');
    profile.arguments = "--grid={3}x{2} \\20";
    profile.predicted = std::chrono::milliseconds{1'500};
    profile.measured = std::chrono::seconds{2};
    return {summary_of(profile), PredictionError{3, -0.25, 1.5, 0.5}};
}
inline ProfileImport some_profile_import() {
    return {{some_id(8)}, {"/home/ana/ring", "1000"}, some_model(), std::chrono::milliseconds{12'500}};
}

}  // namespace zbs::test
