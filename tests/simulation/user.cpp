#include "tests/simulation/user.hpp"

#include "services/common/codec/message_codec.hpp"

namespace zbs::simulation {
namespace {

constexpr Duration kLookEvery = std::chrono::seconds{30};
constexpr Duration kAskAgain = std::chrono::seconds{2};

bool is_final_name(const std::string& state) {
    for (const ApplicationState s : {ApplicationState::kCompleted, ApplicationState::kFailed,
                                     ApplicationState::kCancelled, ApplicationState::kRejected})
        if (state == to_string(s)) return true;
    return false;
}

}  // namespace

bool User::Known::ended() const { return is_final_name(state); }

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

void User::call(std::string method, std::string path, std::string body,
                std::function<void(Result<HttpAnswer>)> respond) {
    client_->call({zone_, std::move(method), std::move(path), std::move(body), std::chrono::seconds{10}},
                  [this, respond = std::move(respond)](Result<HttpAnswer> answer) {
                      host_.after(Duration{0}, [respond, answer = std::move(answer)] { respond(answer); });
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
    call("POST", "/v1/applications", codec::dump(codec::encode(known_.at(id).request)),
         [this, id](const Result<HttpAnswer>& answer) {
             Known& mine = known_.at(id);
             const bool passing = !answer || answer->status >= 500 || answer->try_later;
             if (passing) return host_.after(kAskAgain, [this, id] { send(id); });
             if (answer->status == 200 || answer->status == 202) {
                 mine.accepted = true;
                 return look(id);
             }
             mine.refused = true;
             if (answer->status != 429)
                 mine.complaint = "her request was refused with " + std::to_string(answer->status) + " " + answer->body;
         });
}

void User::look(const ApplicationId& id) {
    call("GET", "/v1/applications/" + to_string(id), {}, [this, id](const Result<HttpAnswer>& answer) {
        Known& mine = known_.at(id);
        if (answer && answer->status == 404) mine.complaint = "an accepted application is not found";
        if (answer && answer->status == 200) {
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
    call("DELETE", "/v1/applications/" + to_string(id), {}, [this, id](const Result<HttpAnswer>& answer) {
        if (!answer || answer->status >= 500 || answer->try_later)
            return host_.after(kAskAgain, [this, id] { cancel(id); });
        if (answer->status == 200 || answer->status == 202) known_.at(id).cancelled = true;
    });
}

}  // namespace zbs::simulation
