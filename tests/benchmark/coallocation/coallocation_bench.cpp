// Real zones and a real registry (messages, routes, storage) on the simulated world's clock and network: every message
// takes 25 ms one way, nothing is lost. Times are virtual, i.e. what the protocol waits for; CPU time beside them is
// what all zones together needed on one core of this machine.
#include <algorithm>
#include <ctime>
#include <iomanip>
#include <iostream>
#include <memory>
#include <thread>

#include "algorithms/base/expects.hpp"
#include "services/common/codec/message_codec.hpp"
#include "tests/simulation/node.hpp"
#include "tests/support/graphs.hpp"

namespace zbs::bench {
namespace {

using namespace simulation;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kOneWay{25};

double cpu_seconds() {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

/// `zones` zones of one machine each that have all found and accepted each other, and a user of the first.
class Federation {
  public:
    Federation(int zones, int processors) {
        network_.weather = {.delay = kOneWay, .jitter = Duration{0}};
        jobs_.shortest = jobs_.longest = seconds{60};
        install_disks(disks_);
        for (int z = 0; z < zones; ++z) {
            names_.push_back("z" + std::to_string(z));
            around_.organisations.emplace_back("org-" + names_.back());
            disks_[names_.back()];
        }
        registry_ = std::make_unique<RegistryNode>(around_);
        ZBS_EXPECTS(registry_->boot().has_value());
        for (const std::string& name : names_) {
            const OrganisationName organisation("org-" + name);
            ZoneConfig config = open_zone(name, organisation, registry_->address(), registry_->invite(organisation));
            config.zone.machines = {{"m", processors, 1.0}};
            // Talk between zones that has nothing to do with an application.
            config.discover_every = seconds{20};
            config.exchange_every = config.renew_every = std::chrono::minutes{10};
            config.lease = std::chrono::hours{1};
            nodes_.push_back(std::make_unique<ZoneNode>(around_, std::move(config), 100 + nodes_.size()));
            ZBS_EXPECTS(nodes_.back()->boot().has_value());
        }
        user_.boot();
        run_for(std::chrono::minutes{2});
    }
    Federation(const Federation&) = delete;
    Federation& operator=(const Federation&) = delete;

    struct Took {
        std::map<ApplicationState, double> at;   ///< seconds from the submission, until home has stored the state
        std::map<ApplicationState, double> cpu;  ///< seconds, until then
        int rounds = 0;
        int parts = 0;
    };
    /// Submits and waits until the application runs; then it is cancelled and everything given back.
    Took run(const ApplicationRequest& request) {
        const Duration begin = time_.now();
        const double cpu_begin = cpu_seconds();
        Took took;
        send("POST", "/v1/applications", codec::dump(codec::encode(request)));
        time_.run_until(begin + seconds{60}, [&] {
            const auto found = nodes_[0]->core()->applications().find(owner_, request.id);
            if (!found) return true;
            const ApplicationStatus& status = (*found)->status;
            for (const StateChange& change : status.history)  // some states last no time
                if (took.at.try_emplace(change.state, to_seconds(time_.now() - begin)).second)
                    took.cpu[change.state] = cpu_seconds() - cpu_begin;
            if (status.plan) took.rounds = status.plan->round;
            took.parts = static_cast<int>(status.parts.size());
            return status.state != ApplicationState::kRunning && !is_final(status.state);
        });
        send("DELETE", "/v1/applications/" + to_string(request.id), {});
        run_for(seconds{20});
        return took;
    }
    ApplicationId fresh_id() { return ApplicationId{ids_.fresh(owner_)}; }

  private:
    void run_for(Duration time) {
        time_.run_until(time_.now() + time, [] { return true; });
    }
    void send(const char* method, const std::string& path, std::string body) {
        client_->call({{"https://z0", nodes_[0]->self()}, method, path, std::move(body), seconds{30}},
                      [](const Result<HttpAnswer>& answer) { ZBS_EXPECTS(answer && answer->status < 300); });
    }

    Timeline time_;
    Chronicle chronicle_{time_};
    std::map<std::string, Disk> disks_;
    Network network_{time_, chronicle_, Rng(1)};
    Jobs jobs_{time_, chronicle_, Rng(2)};
    Surroundings around_{time_, chronicle_, network_, jobs_, disks_, {"grid"}};
    std::vector<std::string> names_;
    std::unique_ptr<RegistryNode> registry_;
    std::vector<std::unique_ptr<ZoneNode>> nodes_;
    const Caller owner_{CallerKind::kUser, "org-z0", "ana"};
    Host user_{time_, "user"};
    HostIds ids_{user_, 7};
    std::unique_ptr<HttpClient> client_ = network_.client(user_, owner_);
};

struct Case {
    int zones;
    int processors;  ///< of each zone
    int ranks;
    bool profile;
};

/// The row of the run with the median time from plan to commit.
void measure(const Case& c, int repeats) {
    Federation federation(c.zones, c.processors);
    std::vector<Federation::Took> runs;
    for (int i = 0; i < repeats; ++i) {
        ApplicationRequest request;
        request.id = federation.fresh_id();
        request.ranks = c.ranks;
        request.argv = {"/bin/app"};
        request.directory = "/tmp";
        request.walltime = std::chrono::minutes{5};
        request.seed = static_cast<std::uint64_t>(i + 1);
        if (c.profile) request.model = {"app", true, test::large_clusters(c.ranks, c.zones, 8, 2, request.seed)};
        runs.push_back(federation.run(request));
    }
    using enum ApplicationState;
    const auto span = [](const std::map<ApplicationState, double>& at, ApplicationState from, ApplicationState to) {
        ZBS_EXPECTS(at.contains(from) && at.contains(to));
        return at.at(to) - at.at(from);
    };
    std::sort(runs.begin(), runs.end(), [&](const auto& a, const auto& b) {
        return span(a.at, kPlanned, kCommitted) < span(b.at, kPlanned, kCommitted);
    });
    const Federation::Took& r = runs[runs.size() / 2];
    const auto cell = [](double value, int digits) {
        std::cout << std::setw(10) << std::fixed << std::setprecision(digits) << value;
    };
    std::cout << std::setw(6) << c.zones << std::setw(7) << r.parts << std::setw(7) << c.ranks << std::setw(9)
              << (c.profile ? "yes" : "no") << std::setw(7) << r.rounds;
    cell(span(r.at, kAccepted, kPlanned) * 1e3, 0);
    cell(span(r.at, kPlanned, kCommitted) * 1e3, 0);
    cell(r.at.at(kCommitted) * 1e3, 0);
    cell(r.at.at(kRunning) * 1e3, 0);
    cell(span(r.cpu, kAccepted, kPlanned) * 1e3, 1);
    cell(span(r.cpu, kPlanned, kCommitted) * 1e3, 1);
    std::cout << std::endl;
}

int run(int argc, char** argv) {
    std::cout << "cores: " << std::thread::hardware_concurrency() << "\ncommand:";
    for (int i = 0; i < argc; ++i) std::cout << ' ' << argv[i];
    std::cout << "\none way " << kOneWay.count() << " ms, round trip " << 2 * kOneWay.count()
              << " ms; median run of 5; virtual ms, and ms of CPU of all zones together\n"
              << " zones  parts  ranks  profile  round   offers  hold+com  ..commit   running  cpu offer  cpu h+c\n";
    for (const Case& c : {Case{10, 4, 40, false}, Case{60, 4, 240, false}, Case{10, 128, 1'000, true},
                          Case{60, 20, 1'000, true}, Case{100, 16, 1'000, true}})
        measure(c, 5);
    return 0;
}

}  // namespace
}  // namespace zbs::bench

int main(int argc, char** argv) { return zbs::bench::run(argc, argv); }
