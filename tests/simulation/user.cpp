#include "tests/simulation/user.hpp"

#include <algorithm>
#include <iterator>

#include "client/calls/repeated_call.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/staging_codec.hpp"
#include "tests/support/memory_depot.hpp"

namespace zbs::simulation {
namespace {

constexpr Duration kCheckInterval = std::chrono::seconds{30};
constexpr Duration kPatience = std::chrono::seconds{10};  // of her client
constexpr Duration kGlanceEvery = std::chrono::seconds{45};
constexpr Duration kAskAgain = std::chrono::seconds{2};  // after it has reported that it gave up

/// Every so manyth application brings a file and wants results.
constexpr std::size_t kStagedEvery = 3;
/// Another one for each, so that each is sent.
std::string input_of(const ApplicationId& id) { return std::string(20'000, 'i') + to_string(id); }

}  // namespace

bool User::Known::ended() const { return client::is_ended(state); }

User::User(Timeline& time, Network& network, Rng rng, const OrganisationName& organisation, const std::string& home,
           std::uint64_t id_stream)
    : time_(time),
      rng_(rng),
      self_{CallerKind::kUser, organisation, "ana"},
      zone_{"https://" + home, {CallerKind::kZone, organisation, home}},
      own_{Host(time, "user-of-" + home), nullptr},
      second_{Host(time, "second-of-" + home), nullptr},
      ids_(own_.host, id_stream) {
    for (Machine* machine : {&own_, &second_}) {
        machine->client = network.client(machine->host, self_);
        machine->host.boot();
    }
}

/// As `client::ZoneClient` does, without a thread that waits.
void User::call(Machine& from, HttpCall call, std::function<void(Result<HttpAnswer>)> respond) {
    make(from, std::move(call), client::RepeatedCall(from.host.steady_now(), kPatience), std::move(respond));
}

void User::make(Machine& from, HttpCall call, client::RepeatedCall repeated,
                std::function<void(Result<HttpAnswer>)> respond) {
    from.client->call(call,
                      [this, &from, call, repeated, respond = std::move(respond)](Result<HttpAnswer> answer) mutable {
                          const auto pause = repeated.pause_after(answer, from.host.steady_now());
                          from.host.after(pause.value_or(Duration{0}),
                                          [this, &from, pause, call = std::move(call), repeated,
                                           respond = std::move(respond), answer = std::move(answer)]() mutable {
                                              if (pause)
                                                  return make(from, std::move(call), repeated, std::move(respond));
                                              respond(std::move(answer));
                                          });
                      });
}

/// What one answer shows, beside all that was seen of the application before.
void User::observe(Known& mine, const ObservedHistory::Question& question, const Result<HttpAnswer>& answer) {
    if (!answer || !mine.complaint.empty()) return;
    if (answer->status == 404) {
        mine.complaint = mine.observed.not_found(question).value_or("");
        return;
    }
    if (!client::success_of(answer)) return;
    const Result<codec::Json> json = codec::parse(answer->body);
    if (!json || !json->contains("state") || !json->contains("history") || !json->contains("cancel_requested")) {
        mine.complaint = "a reply without state, history or cancel_requested: " + answer->body;
        return;
    }
    std::vector<std::string> log;
    for (const codec::Json& change : json->at("history")) log.push_back(codec::dump(change));
    mine.complaint =
        mine.observed.found(question, log, json->at("cancel_requested").get<bool>()).value_or(mine.complaint);
    const std::string state = json->at("state").get<std::string>();
    if (json->at("history").empty() || json->at("history").back().at("state") != state)
        mine.complaint = "its state is " + state + ", its history ends otherwise: " + answer->body;
}

void User::submit(int ranks) {
    Known fresh;
    fresh.request.id = ApplicationId{ids_.fresh(self_)};
    fresh.request.ranks = ranks;
    fresh.request.argv = {"/bin/app"};
    fresh.request.directory = "/tmp";
    fresh.request.walltime = std::chrono::minutes{3 + static_cast<int>(rng_.below(8))};
    fresh.request.profile = false;
    fresh.sent = time_.now();
    if (known_.size() % kStagedEvery == 1) {
        const std::string bytes = input_of(fresh.request.id);
        fresh.request.staging = {
            .inputs = {{.name = "in", .digest = test::MemoryDepot::digest_of(bytes), .size = bytes.size()}},
            .results = {"r*"}};
    }
    const ApplicationId id = fresh.request.id;
    known_.emplace(id, std::move(fresh));
    send(id);
}

/// Her input first, if she has one: as often as it takes, and home says when it has all.
void User::send(const ApplicationId& id) {
    const Staging& staging = known_.at(id).request.staging;
    if (staging.inputs.empty()) return hand_in(id);
    const std::string bytes = input_of(id);
    const HttpCall put{zone_, "PUT", "/v1/files/" + staging.inputs[0].digest,
                       codec::dump(codec::encode(FileChunk{0, bytes.size(), 0, bytes}))};
    call(own_, put, [this, id](const Result<HttpAnswer>& answer) {
        if (client::success_of(answer)) return hand_in(id);
        if (client::is_passing(answer)) return own_.host.after(kAskAgain, [this, id] { send(id); });
        known_.at(id).complaint = "her file was refused: " + client::success_of(answer).error().message;
    });
}

void User::hand_in(const ApplicationId& id) {
    const auto question = known_.at(id).observed.ask();
    call(own_, client::submit_call(zone_, known_.at(id).request),
         [this, id, question](const Result<HttpAnswer>& answer) {
             Known& mine = known_.at(id);
             observe(mine, question, answer);
             if (client::success_of(answer)) {
                 mine.accepted = true;
                 return look(id);
             }
             // Whether it was taken is unknown: the same request again, with the id that she kept.
             if (client::is_passing(answer)) return own_.host.after(kAskAgain, [this, id] { send(id); });
             const Error error = client::success_of(answer).error();
             mine.refused = true;
             if (error.code != ErrorCode::kTooManyRequests)
                 mine.complaint = "her request was refused: " + error.message;
         });
}

void User::look(const ApplicationId& id) {
    const auto question = known_.at(id).observed.ask();
    call(own_, client::show_call(zone_, to_string(id)), [this, id, question](const Result<HttpAnswer>& answer) {
        Known& mine = known_.at(id);
        observe(mine, question, answer);
        if (!mine.complaint.empty()) return;
        if (client::success_of(answer)) mine.state = codec::parse(answer->body)->at("state").get<std::string>();
        const Duration spread{static_cast<std::int64_t>(rng_.below(10'000'000))};
        // She looks now and then even at what has ended: an end must stay.
        own_.host.after(mine.ended() ? kCheckInterval * 40 : kCheckInterval + spread, [this, id] { look(id); });
    });
}

void User::glance_until(Duration end) {
    if (time_.now() > end) return;
    glance();
    second_.host.after(kGlanceEvery + Duration{static_cast<std::int64_t>(rng_.below(10'000'000))},
                       [this, end] { glance_until(end); });
}

void User::glance() {
    if (known_.empty()) return;
    // The latest ones: there is more to see.
    const std::size_t back = rng_.below(std::min<std::size_t>(known_.size(), 4));
    const ApplicationId id = std::prev(known_.end(), static_cast<std::ptrdiff_t>(back) + 1)->first;
    const auto question = known_.at(id).observed.ask();
    call(second_, client::show_call(zone_, to_string(id)),
         [this, id, question](const Result<HttpAnswer>& answer) { observe(known_.at(id), question, answer); });
}

void User::cancel_one() {
    std::vector<ApplicationId> open;
    for (const auto& [id, mine] : known_)
        if (mine.accepted && !mine.cancel_asked && !mine.ended()) open.push_back(id);
    if (open.empty()) return;
    const ApplicationId id = open[rng_.below(open.size())];
    known_.at(id).cancel_asked = true;
    cancel(id);
}

void User::cancel(const ApplicationId& id) {
    const auto question = known_.at(id).observed.ask();
    known_.at(id).observed.ask_to_cancel();
    call(own_, client::cancel_call(zone_, to_string(id)), [this, id, question](const Result<HttpAnswer>& answer) {
        Known& mine = known_.at(id);
        observe(mine, question, answer);
        if (client::is_passing(answer)) return own_.host.after(kAskAgain, [this, id] { cancel(id); });
        if (!client::success_of(answer)) return;
        mine.cancelled = true;
        const Result<codec::Json> json = codec::parse(answer->body);
        if (json && !client::is_ended(json->at("state").get<std::string>()) && !json->at("cancel_requested"))
            mine.complaint = "a cancellation was acknowledged and nothing is cancelled";
    });
}

}  // namespace zbs::simulation
