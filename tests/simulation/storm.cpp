#include "tests/simulation/storm.hpp"

#include <algorithm>

#include "tests/simulation/liar.hpp"

namespace zbs::simulation {
namespace {
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

/// From the end of a fault, and of a service that ended by itself, until all is as before.
constexpr Duration kRecovery = minutes{3};
constexpr std::uint64_t kMaxSteps = 40;  ///< into which a crash falls, at the latest
}  // namespace

void Storm::rage() {
    begin_ = time_.now();
    end_ = begin_ + plan_.storm;
    time_.after(between(seconds{10}, seconds{30}), [this] { strike(); });
    time_.at(end_, [this] { mend(); });
}

const StormEntry* Storm::choose() {
    const Duration since = time_.now() - begin_;
    std::vector<std::size_t> open;
    std::uint64_t weights = 0;
    for (std::size_t i = 0; i < plan_.entries.size(); ++i) {
        const StormEntry& entry = plan_.entries[i];
        if (since < entry.from || since >= entry.until || (entry.at_most > 0 && strikes_[i] >= entry.at_most)) continue;
        open.push_back(i);
        weights += static_cast<std::uint64_t>(entry.weight);
    }
    if (open.empty()) return nullptr;
    std::uint64_t left = rng_.below(weights);
    for (const std::size_t i : open) {
        const auto weight = static_cast<std::uint64_t>(plan_.entries[i].weight);
        if (left < weight) {
            ++strikes_[i];
            return &plan_.entries[i];
        }
        left -= weight;
    }
    return nullptr;
}

void Storm::strike() {
    if (over_) return;
    time_.after(between(plan_.pause_least, plan_.pause_most), [this] { strike(); });
    const StormEntry* entry = choose();
    if (entry == nullptr) return;
    strike(entry->faults[entry->faults.size() > 1 ? rng_.below(entry->faults.size()) : 0]);
}

void Storm::strike(const StormFault& fault) {
    if (fault.kind != FaultKind::kLostHost)
        troubled_until_ =
            std::max({troubled_until_, time_.now() + kRecovery + std::max(fault.most, fault.registry_most)});
    switch (fault.kind) {
        case FaultKind::kCrash:
            return crash(any_of(fault), fault);
        case FaultKind::kStop:
            return stop_for_a_while(any_of(fault), fault);
        case FaultKind::kPartition:
            return divide(fault);
        case FaultKind::kBadLines:
            return bad_lines(fault);
        case FaultKind::kSlowDisk:
            return slow_disk(any_of(fault), fault);
        case FaultKind::kFailingDisk:
            return fail_disk(any_of(fault));
        case FaultKind::kKilledProcess:
            return jobs_.kill_one(any_of(fault).name());
        case FaultKind::kClockJump:
            return jump(any_of(fault), fault);
        case FaultKind::kLiar:
            return bend(any_of(fault), fault);
        case FaultKind::kLostHost:
            return lose(any_of(fault));
        case FaultKind::kBurst:
            chronicle_.note("storm", "all users submit " + std::to_string(fault.applications) + " applications");
            return on_burst(fault.applications);
    }
}

Node& Storm::any_of(const StormFault& fault) {
    if (fault.hosts == "all") return any();
    if (fault.hosts == "registry") return *nodes_.front();
    if (fault.hosts == "zones") return *nodes_[1 + rng_.below(nodes_.size() - 1)];
    return **std::ranges::find(nodes_, fault.hosts, &Node::name);
}

void Storm::crash(Node& node, const StormFault& fault) {
    if (!node.host().is_up()) return;
    // At one of its next steps, wherever that is; a quiet service ends at the end of that time.
    const std::uint64_t life = node.host().life();
    node.host().doom(1 + rng_.below(kMaxSteps), [this, &node, &fault] { ended(node, fault); });
    time_.after(between(seconds{1}, seconds{5}), [this, &node, &fault, life] {
        if (over_ || node.host().life() != life || !node.host().is_up()) return;
        node.host().crash();
        ended(node, fault);
    });
}

void Storm::ended(Node& node, const StormFault& fault) {
    ++crashes_;
    node.disk().die();
    chronicle_.note(node.name(), "crashes");
    time_.after(Duration{0}, [this, &node, &fault] { finish_crash(node, fault); });
}

/// From the next sync on nothing can be kept, as on a full or dying disk: the service has to end by itself.
void Storm::fail_disk(Node& node) {
    if (is_registry(node)) return;  // it keeps every write by itself and goes on without
    chronicle_.note(node.name(), "its disk fails");
    node.disk().fail_syncs(true);
}

void Storm::finish_crash(Node& node, const StormFault& fault) {
    node.crash(rng_);
    // Half of them are back soon.
    const Duration soon = std::clamp<Duration>(seconds{2}, fault.least, fault.most);
    Duration away = rng_.below(2) == 0 ? between(fault.least, soon) : between(soon, fault.most);
    // The registry now and then for so long that all leases end.
    if (is_registry(node) && fault.registry_most > Duration{0} && rng_.below(4) == 0)
        away = between(fault.registry_least, fault.registry_most);
    time_.at(std::min(time_.now() + away, std::max(end_, time_.now() + seconds{2})), [this, &node] { boot(node); });
}

void Storm::boot(Node& node) {
    if (node.host().is_up() || is_lost(node.name())) return;
    chronicle_.note(node.name(), "starts again");
    if (auto booted = node.boot(); !booted) checks_.cannot_boot(node.name(), booted.error());
}

void Storm::stop_for_a_while(Node& node, const StormFault& fault) {
    if (!node.host().is_up()) return;
    const Duration end = time_.now() + as_long_as(fault);
    chronicle_.note(node.name(), "is stopped for " + std::to_string(to_seconds(end - time_.now())) + " s");
    node.host().pause_until(end);
}

void Storm::lose(Node& node) {
    if (!lost_.insert(node.name()).second) return;
    chronicle_.note(node.name(), "its host is lost for good");
    node.crash(rng_);
    network_.gone.insert(node.name());
    on_loss(node.name());
    jobs_.lose(node.name());
}

void Storm::divide(const StormFault& fault) {
    ++partitions_;
    std::vector<std::pair<std::string, std::string>> lines;
    Node& one = any_of(fault);
    const bool both = rng_.below(2) == 0;
    const auto cut = [&](const std::string& other) {
        lines.emplace_back(one.name(), other);
        if (both) lines.emplace_back(other, one.name());
    };
    if (rng_.below(3) == 0) {  // from all
        for (const Node* other : nodes_)
            if (other != &one) cut(other->name());
    } else {
        Node& other = any();
        if (&other == &one) return;
        cut(other.name());
    }
    chronicle_.note(one.name(), both ? "is cut off, both ways" : "is cut off, one way");
    for (const auto& line : lines) network_.cut.insert(line);
    time_.after(as_long_as(fault), [this, lines] {
        for (const auto& line : lines) network_.cut.erase(line);
    });
}

void Storm::bad_lines(const StormFault& fault) {
    network_.weather = {.delay = between(milliseconds{1}, fault.delay),
                        .jitter = between(milliseconds{1}, fault.jitter),
                        .loss = rng_.uniform() * fault.loss,
                        .duplicates = rng_.uniform() * fault.duplicates,
                        .stragglers = rng_.uniform() * fault.stragglers};
    time_.after(as_long_as(fault), [this] { network_.weather = {}; });
}

void Storm::slow_disk(Node& node, const StormFault& fault) {
    node.disk().on_sync([&node, time = between(milliseconds{50}, fault.sync)] {
        if (node.host().step()) node.host().work_for(time);
    });
    time_.after(as_long_as(fault), [&node] { node.disk().on_sync([&node] { node.host().step(); }); });
}

void Storm::jump(Node& node, const StormFault& fault) { node.host().set_wall_offset(between(-fault.most, fault.most)); }

/// For a while some answers of this host are nonsense, of the kinds that a hostile peer would try.
void Storm::bend(Node& node, const StormFault& fault) {
    const std::string& name = node.name();
    liars_[name] = time_.now() + fault.most;  // at the latest
    chronicle_.note(name, "answers nonsense for a while");
    const auto liar = std::make_shared<Liar>(rng_.next());
    network_.bent_replies[name] = [liar](const http::Call& call, http::Reply& reply) { liar->bend(call, reply); };
    network_.bent_calls[name] = [liar](http::Call& call) { liar->bend(call); };
    time_.after(as_long_as(fault), [this, name] {
        network_.bent_replies.erase(name);
        network_.bent_calls.erase(name);
    });
}

void Storm::mend() {
    over_ = true;
    chronicle_.note("storm", "is over");
    network_.cut.clear();
    network_.weather = {};
    network_.bent_replies.clear();
    network_.bent_calls.clear();
    for (Node* node : nodes_) {
        node->host().spare();
        node->disk().fail_syncs(false);
        node->host().set_wall_offset({});
        node->disk().on_sync([node] { node->host().step(); });
    }
}

}  // namespace zbs::simulation
