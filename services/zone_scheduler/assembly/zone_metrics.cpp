#include "services/zone_scheduler/assembly/zone_metrics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "services/common/http/reply.hpp"

namespace zbs {
namespace {

/// Of waiting and of whole jobs, s: from what starts at once to a day in line.
const std::vector<double> kJobTimes = {0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3'600, 14'400, 43'200, 86'400};
/// Of a call over a network, s; the longest deadline of one is 40 s.
const std::vector<double> kCallTimes = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 40};
/// Of a sync of the disk or a decision, s.
const std::vector<double> kShortTimes = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                         0.025,  0.05,    0.1,    0.25,  0.5,    1,     2.5};
/// Staged files are counted on the disk, so not at every look.
constexpr int kFirstError = 400;
/// Other services with series of their own; each has a dozen kinds of call.
constexpr std::size_t kPeerSeries = 600;

/// What kind of call a path of ours is; the names of its parts and zones are left out.
std::string kind_of(const HttpCall& call) {
    const std::string path = call.path.substr(0, call.path.find('?'));
    struct Kind {
        std::string_view method, begin, end, word;
    };
    constexpr std::array kKinds = {Kind{"", "/v1/capacity", "", "capacity"},
                                   Kind{"", "/v1/parts/", "/commit", "commit"},
                                   Kind{"", "/v1/parts/", "/launch", "launch"},
                                   Kind{"", "/v1/parts/", "/profile", "profile"},
                                   Kind{"", "/v1/parts/", "/staging", "staging"},
                                   Kind{"PUT", "/v1/parts/", "", "send_file"},
                                   Kind{"", "/v1/parts/", "/results", "results"},
                                   Kind{"DELETE", "/v1/parts/", "", "release"},
                                   Kind{"POST", "/v1/parts", "", "hold"},
                                   Kind{"", "/v1/peerings", "", "peering"},
                                   Kind{"", "/v1/trust", "", "trust"},
                                   Kind{"", "/livez", "", "probe"},
                                   Kind{"", "/openapi.json", "", "probe"},
                                   Kind{"", "/v1/zones", "", "registry"},
                                   Kind{"", "/v1/enrolments", "", "registry"}};
    for (const Kind& kind : kKinds) {
        if ((kind.method.empty() || kind.method == call.method) && path.starts_with(kind.begin) &&
            path.ends_with(kind.end))
            return std::string(kind.word);
    }
    if (!path.starts_with("/v1/parts/")) return "other";
    return path.find("/results/") == std::string::npos ? "status" : "fetch_result";
}

Duration since_submitted(const Application& application) {
    const std::vector<StateChange>& history = application.status.history;
    return std::max(Duration{0}, history.back().at - history.front().at);  // a wall clock may be set back
}

}  // namespace

ZoneMetrics::ZoneMetrics(const ZoneConfig& config, const Clock& clock, ZoneResources resources)
    : clock_(clock),
      resources_(std::move(resources)),
      submitted_(all_.counter({"zbs_zone_applications_submitted", "Applications taken from users of this zone."})),
      ended_(all_.counter({"zbs_zone_applications_ended", "Applications that have ended.", "", {"state"}})),
      wait_(all_.histogram({"zbs_zone_application_wait_seconds",
                            "From the submission of an application to the start of its ranks.", "seconds"},
                           kJobTimes)),
      turnaround_(all_.histogram({"zbs_zone_application_turnaround_seconds",
                                  "From the submission of an application to its end.",
                                  "seconds",
                                  {"state"}},
                                 kJobTimes)),
      start_error_(all_.histogram({"zbs_zone_application_start_error_seconds",
                                   "Of applications that were to wait: how far the start of their ranks was from the "
                                   "start that was announced first, and on which side of it.",
                                   "seconds",
                                   {"start"}},
                                  kJobTimes)),
      open_(all_.gauge({"zbs_zone_applications_open", "Applications with something left to do.", "", {"state"}})),
      processors_(all_.gauge({"zbs_zone_processors",
                              "Processors of this zone: a part runs there (used), is to (held), nothing is (free), or "
                              "they are not to be had (unavailable).",
                              "",
                              {"state"}})),
      parts_(all_.gauge({"zbs_zone_parts", "Parts of applications here that have not ended.", "", {"state"}})),
      waiting_parts_(all_.gauge({"zbs_zone_waiting_parts", "Parts in the queue without processors."})),
      holds_(all_.counter({"zbs_zone_holds", "What became of holds that were granted.", "", {"outcome"}})),
      refusals_(all_.counter({"zbs_zone_holds_refused", "Holds that were refused.", "", {"reason"}})),
      parts_ended_(all_.counter({"zbs_zone_parts_ended", "Parts that have ended.", "", {"state"}})),
      cycle_(all_.histogram({"zbs_zone_cycle_seconds",
                             "Time of a decision: a plan for an application, or a round of the queue discipline.",
                             "seconds",
                             {"cycle"}},
                            kShortTimes)),
      requests_(all_.counter(
          {"zbs_zone_requests", "Calls to this zone that were answered.", "", {"operation", "code"}, 512})),
      peer_call_(all_.histogram({"zbs_zone_peer_call_seconds",
                                 "Time of a call to another zone or a registry, until its answer or failure.",
                                 "seconds",
                                 {"organisation", "peer", "call"},
                                 kPeerSeries},
                                kCallTimes)),
      peer_errors_(all_.counter({"zbs_zone_peer_call_errors",
                                 "Calls to another zone or a registry that failed or were refused.",
                                 "",
                                 {"organisation", "peer", "call", "error"},
                                 kPeerSeries})),
      commit_(all_.histogram(
          {"zbs_zone_store_commit_seconds", "Time that it took to make what was written durable.", "seconds"},
          kShortTimes)),
      store_bytes_(all_.gauge({"zbs_zone_store_bytes", "Size of the database's files.", "bytes"})),
      staged_bytes_(
          all_.gauge({"zbs_zone_staged_bytes",
                      "Staged files and results that are kept here, counted once a minute at most.", "bytes"})),
      certificate_left_(all_.gauge(
          {"zbs_zone_certificate_left_seconds", "Until the end of this zone's own certificate.", "seconds"})) {
    all_.info("zbs_zone_build", "The program, and whose zone it is.",
              {{"version", ZBS_VERSION}, {"zone", config.zone.name}, {"organisation", config.organisation}});
    all_.gauge({"process_start_time_seconds", "Start of the process, since 1970.", "seconds"})
        .at()
        .set(static_cast<double>(to_microseconds(clock.now())) / 1e6);
    begin_at_zero();
}

/// Known words are there from the start on: who looks at their growth sees the first one, too.
void ZoneMetrics::begin_at_zero() {
    submitted_.at();
    wait_.at();
    for (const ApplicationState state : {ApplicationState::kCompleted, ApplicationState::kFailed,
                                         ApplicationState::kCancelled, ApplicationState::kRejected}) {
        ended_.at({to_string(state)});
        turnaround_.at({to_string(state)});
    }
    for (const char* start : {"sooner", "later"}) start_error_.at({start});
    for (const char* outcome : {"granted", "committed", "released", "expired"}) holds_.at({outcome});
    for (const PartState state : {PartState::kCompleted, PartState::kFailed, PartState::kReleased, PartState::kExpired})
        parts_ended_.at({to_string(state)});
    for (const char* cycle : {"plan", "queue"}) cycle_.at({cycle});
    commit_.at();
}

void ZoneMetrics::application_entered(const Application& application) {
    const ApplicationState state = application.status.state;
    if (state == ApplicationState::kRunning) wait_.at().observe(to_seconds(since_submitted(application)));
    watch_start(application);
    if (is_final(state)) {
        ended_.at({to_string(state)}).add();
        turnaround_.at({to_string(state)}).observe(to_seconds(since_submitted(application)));
    }
    if (application.status.history.size() == 1) submitted_.at().add();
}

/// The first plan that makes an application wait is what its user goes by; how later ones slip is their fault.
void ZoneMetrics::watch_start(const Application& application) {
    const ApplicationStatus& status = application.status;
    const Time now = status.history.back().at;
    if (status.state == ApplicationState::kPlanned && status.plan && status.plan->start_in > Duration{0})
        announced_starts_.try_emplace(application.request.id, now + status.plan->start_in);
    if (status.state != ApplicationState::kRunning && !is_final(status.state)) return;
    const auto announced = announced_starts_.extract(application.request.id);
    if (announced.empty() || is_final(status.state)) return;
    const Duration late = now - announced.mapped();
    start_error_.at({late > Duration{0} ? "later" : "sooner"}).observe(std::abs(to_seconds(late)));
}

void ZoneMetrics::part_entered(const PartRecord& part) {
    const PartState state = part.status.state;
    if (is_final(state)) parts_ended_.at({to_string(state)}).add();
    if (state == PartState::kHeld) holds_.at({"granted"}).add();
    if (state == PartState::kCommitted || state == PartState::kExpired) holds_.at({to_string(state)}).add();
    if (state == PartState::kReleased && part.operation.empty()) holds_.at({"released"}).add();  // never launched
}

void ZoneMetrics::cycle_took(Cycle cycle, Duration took) {
    cycle_.at({cycle == Cycle::kPlan ? "plan" : "queue"}).observe(to_seconds(took));
}

void ZoneMetrics::answered(Action action, int status) {
    requests_.at({std::string(to_string(action)), std::to_string(status)}).add();
    if (action == Action::kScheduleCluster && status >= kFirstError)
        refusals_.at({to_string(http::code_of_status(status))}).add();
}

void ZoneMetrics::called(const MeteredCall& call) {
    metrics::Labels labels = {call.call.to.who.organisation, call.call.to.who.name, kind_of(call.call)};
    peer_call_.at(labels).observe(to_seconds(call.took));
    if (!call.fault) return;
    labels.emplace_back(to_string(*call.fault));
    peer_errors_.at(std::move(labels)).add();
}

void ZoneMetrics::committed(Duration took) { commit_.at().observe(to_seconds(took)); }

void ZoneMetrics::read(const ZoneServices& services) {
    open_.clear();
    for (int state = 0; state <= static_cast<int>(ApplicationState::kRejected); ++state)
        open_.at({to_string(static_cast<ApplicationState>(state))});
    for (const auto& [state, count] : services.applications.open_by_state())
        open_.at({to_string(state)}).set(static_cast<double>(count));
    ProcessorLedger::Use use;
    std::array<std::size_t, 3> parts{};  // those not ended, by state
    for (const PartTable* table : services.parts.tables()) {
        const ProcessorLedger::Use own = table->use();
        use.used += own.used;
        use.held += own.held;
        use.unavailable += own.unavailable;
        use.free += own.free;
        for (const PartRecord* part : table->records()) ++parts.at(static_cast<std::size_t>(part->status.state));
    }
    for (const auto& [word, count] : {std::pair{"used", use.used}, std::pair{"held", use.held},
                                      std::pair{"free", use.free}, std::pair{"unavailable", use.unavailable}})
        processors_.at({word}).set(static_cast<double>(count));
    for (const PartState state : {PartState::kHeld, PartState::kCommitted, PartState::kRunning})
        parts_.at({to_string(state)}).set(static_cast<double>(parts.at(static_cast<std::size_t>(state))));
    waiting_parts_.at().set(static_cast<double>(services.parts.waiting_count()));
    staged_bytes_.at().set(static_cast<double>(services.files.kept_bytes()));
    if (resources_.store_bytes) store_bytes_.at().set(static_cast<double>(resources_.store_bytes()));
    const std::optional<Time> end = resources_.certificate_until ? resources_.certificate_until() : std::nullopt;
    if (end) certificate_left_.at().set(to_seconds(*end - clock_.now()));
}

std::string ZoneMetrics::text(metrics::TextFormat format, const ZoneServices& services) {
    read(services);
    return all_.text(format);
}

}  // namespace zbs
