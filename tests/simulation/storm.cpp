#include "tests/simulation/storm.hpp"

#include "tests/simulation/liar.hpp"

namespace zbs::simulation {
namespace {
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::uint64_t kMaxSteps = 40;  ///< into which a crash falls, at the latest
}  // namespace

void Storm::rage_until(Duration end) {
    end_ = end;
    time_.after(between(seconds{10}, seconds{30}), [this] { strike(); });
    time_.at(end, [this] { mend(); });
}

void Storm::strike() {
    if (over_) return;
    time_.after(between(seconds{1}, seconds{60}), [this] { strike(); });
    switch (rng_.below(10)) {
        case 0:
        case 1:
        case 2:
            return crash(any());
        case 3:
            return stop_for_a_while(any());
        case 4:
        case 5:
            return divide();
        case 6:
            return bad_lines();
        case 7:
            switch (rng_.below(3)) {
                case 0:
                    return slow_disk(any());
                case 1:
                    return fail_disk(any());
                default:
                    return jobs_.kill_one(any().name());
            }
        case 8:
            return jump(any());
        default:
            return bend(any());
    }
}

void Storm::crash(Node& node) {
    if (!node.host().is_up()) return;
    // At one of its next steps, wherever that is; a quiet service ends at the end of that time.
    const std::uint64_t life = node.host().life();
    node.host().doom(1 + rng_.below(kMaxSteps), [this, &node] { ended(node); });
    time_.after(between(seconds{1}, seconds{5}), [this, &node, life] {
        if (over_ || node.host().life() != life || !node.host().is_up()) return;
        node.host().crash();
        ended(node);
    });
}

void Storm::ended(Node& node) {
    ++crashes_;
    node.disk().die();
    chronicle_.note(node.name(), "crashes");
    time_.after(Duration{0}, [this, &node] { finish_crash(node); });
}

/// From the next sync on nothing can be kept, as on a full or dying disk: the service has to end by itself.
void Storm::fail_disk(Node& node) {
    if (&node == nodes_.front()) return;  // the registry keeps every write by itself and goes on without
    chronicle_.note(node.name(), "its disk fails");
    node.disk().fail_syncs(true);
}

void Storm::finish_crash(Node& node) {
    node.crash(rng_);
    const bool soon = rng_.below(2) == 0;
    Duration away = soon ? between(milliseconds{200}, seconds{2}) : between(seconds{2}, seconds{120});
    // The registry now and then for so long that all leases end.
    if (&node == nodes_.front() && rng_.below(4) == 0) away = between(minutes{3}, minutes{15});
    time_.at(std::min(time_.now() + away, std::max(end_, time_.now() + seconds{2})), [this, &node] { boot(node); });
}

void Storm::boot(Node& node) {
    if (node.host().is_up()) return;
    chronicle_.note(node.name(), "starts again");
    if (auto booted = node.boot(); !booted) checks_.cannot_boot(node.name(), booted.error());
}

void Storm::stop_for_a_while(Node& node) {
    if (!node.host().is_up()) return;
    const Duration end = time_.now() + between(seconds{1}, seconds{100});
    chronicle_.note(node.name(), "is stopped for " + std::to_string(to_seconds(end - time_.now())) + " s");
    node.host().pause_until(end);
}

void Storm::divide() {
    ++partitions_;
    std::vector<std::pair<std::string, std::string>> lines;
    Node& one = any();
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
    time_.after(between(seconds{1}, seconds{120}), [this, lines] {
        for (const auto& line : lines) network_.cut.erase(line);
    });
}

void Storm::bad_lines() {
    network_.weather = {.delay = between(milliseconds{1}, milliseconds{200}),
                        .jitter = between(milliseconds{1}, milliseconds{500}),
                        .loss = rng_.uniform() * 0.3,
                        .duplicates = rng_.uniform() * 0.2,
                        .stragglers = rng_.uniform() * 0.05};
    time_.after(between(seconds{5}, seconds{120}), [this] { network_.weather = {}; });
}

void Storm::slow_disk(Node& node) {
    node.disk().on_sync([&node, time = between(milliseconds{50}, seconds{2})] {
        if (node.host().step()) node.host().work_for(time);
    });
    time_.after(between(seconds{5}, seconds{60}), [&node] { node.disk().on_sync([&node] { node.host().step(); }); });
}

void Storm::jump(Node& node) {
    node.host().set_wall_offset(between(-std::chrono::minutes{10}, std::chrono::minutes{10}));
}

/// For a while some answers of this host are nonsense, of the kinds that a hostile peer would try.
void Storm::bend(Node& node) {
    const std::string& name = node.name();
    liars_[name] = time_.now() + seconds{60};  // at the latest
    chronicle_.note(name, "answers nonsense for a while");
    const auto liar = std::make_shared<Liar>(rng_.next());
    network_.bent_replies[name] = [liar](const http::Call& call, http::Reply& reply) { liar->bend(call, reply); };
    network_.bent_calls[name] = [liar](http::Call& call) { liar->bend(call); };
    time_.after(between(seconds{5}, seconds{60}), [this, name] {
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
