#include "tests/simulation/user.hpp"

#include "client/calls/application_calls.hpp"
#include "services/common/codec/message_codec.hpp"

namespace zbs::simulation {
namespace {

constexpr Duration kLookEvery = std::chrono::seconds{30};
constexpr Duration kPatience = std::chrono::seconds{10};  // of her client
constexpr Duration kAskAgain = std::chrono::seconds{2};   // after it has told her that it gave up

}  // namespace

bool User::Known::ended() const { return client::is_ended(state); }

User::User(Timeline& time, Network& network, Rng rng, const std::string& organisation, const std::string& home,
           std::uint64_t id_stream)
    : rng_(rng),
      self_{CallerKind::kUser, organisation, "ana"},
      zone_{"https://" + home, {CallerKind::kZone, organisation, home}},
      host_(time, "user-of-" + home),
      ids_(host_, id_stream),
      client_(network.client(host_, self_)) {
    host_.boot();
}

/// As `client::ZoneClient` does, without a thread that waits.
void User::call(HttpCall call, std::function<void(Result<HttpAnswer>)> respond) {
    make(std::move(call), client::RepeatedCall(host_.steady_now(), kPatience), std::move(respond));
}

void User::make(HttpCall call, client::RepeatedCall repeated, std::function<void(Result<HttpAnswer>)> respond) {
    client_->call(call, [this, call, repeated, respond = std::move(respond)](Result<HttpAnswer> answer) mutable {
        const auto pause = repeated.pause_after(answer, host_.steady_now());
        host_.after(pause.value_or(Duration{0}), [this, pause, call = std::move(call), repeated,
                                                  respond = std::move(respond), answer = std::move(answer)]() mutable {
            if (pause) return make(std::move(call), repeated, std::move(respond));
            respond(std::move(answer));
        });
    });
}

void User::submit(int ranks) {
    Known fresh;
    fresh.request.id = ApplicationId{ids_.fresh()};
    fresh.request.ranks = ranks;
    fresh.request.argv = {"/bin/app"};
    fresh.request.directory = "/tmp";
    fresh.request.walltime = std::chrono::minutes{3 + static_cast<int>(rng_.below(8))};
    fresh.request.profile = false;
    const ApplicationId id = fresh.request.id;
    known_.emplace(id, std::move(fresh));
    send(id);
}

void User::send(const ApplicationId& id) {
    call(client::submit_call(zone_, known_.at(id).request), [this, id](const Result<HttpAnswer>& answer) {
        Known& mine = known_.at(id);
        if (client::success_of(answer)) {
            mine.accepted = true;
            return look(id);
        }
        // Whether it was taken is unknown: the same request again, with the id that she kept.
        if (client::is_passing(answer)) return host_.after(kAskAgain, [this, id] { send(id); });
        const Error error = client::success_of(answer).error();
        mine.refused = true;
        if (error.code != ErrorCode::kTooManyRequests) mine.complaint = "her request was refused: " + error.message;
    });
}

void User::look(const ApplicationId& id) {
    call(client::show_call(zone_, to_string(id)), [this, id](const Result<HttpAnswer>& answer) {
        Known& mine = known_.at(id);
        if (answer && answer->status == 404) mine.complaint = "an accepted application is not found";
        if (client::success_of(answer)) {
            const Result<codec::Json> json = codec::parse(answer->body);
            if (!json || !json->contains("state") || !json->contains("history")) {
                mine.complaint = "a reply without state or history: " + answer->body;
                return;
            }
            const std::string state = json->at("state").get<std::string>();
            const std::size_t history = json->at("history").size();
            if (history < mine.history) mine.complaint = "its history became shorter";
            if (mine.ended() && state != mine.state) mine.complaint = "it was " + mine.state + " and is " + state;
            mine.state = state;
            mine.history = history;
        }
        const Duration spread{static_cast<std::int64_t>(rng_.below(10'000'000))};
        // She looks now and then even at what has ended: an end must stay.
        host_.after(mine.ended() ? kLookEvery * 40 : kLookEvery + spread, [this, id] { look(id); });
    });
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
    call(client::cancel_call(zone_, to_string(id)), [this, id](const Result<HttpAnswer>& answer) {
        if (client::is_passing(answer)) return host_.after(kAskAgain, [this, id] { cancel(id); });
        if (client::success_of(answer)) known_.at(id).cancelled = true;
    });
}

}  // namespace zbs::simulation
