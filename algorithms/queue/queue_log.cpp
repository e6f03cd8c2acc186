#include "algorithms/queue/queue_log.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "algorithms/queue/discipline.hpp"

namespace zbs {
namespace {

/// One queue after the other, as the zone was started again and again.
class Replayer {
  public:
    Result<void> operator()(const QueueOpened& event) {
        if (event.processors < 1 || event.processors > ZoneState::kMaxProcessors)
            return invalid("a zone has 1 to " + std::to_string(ZoneState::kMaxProcessors) + " processors");
        if (event.rows < 1 || event.processors % event.rows != 0)
            return invalid("each row of a zone has as many processors");
        processors_ = event.processors;
        row_size_ = event.processors / event.rows;
        auto made = queue_discipline("fcfs", row_size_);
        if (!made) return made.error();
        queue_ = std::make_unique<ZoneQueue>(static_cast<std::size_t>(processors_), std::move(made->make),
                                             static_cast<std::size_t>(event.rows));
        return {};
    }
    Result<void> operator()(const DisciplineChosen& event) {
        if (queue_ == nullptr) return no_queue();
        auto made = queue_discipline(event.discipline, row_size_);
        if (!made) return made.error();
        if (std::cmp_not_equal(made->rows, queue_->rows()))
            return invalid("policy '" + event.discipline + "' takes " + std::to_string(made->rows) +
                           " rows, the zone has " + std::to_string(queue_->rows()));
        queue_->use_policy(std::move(made->make), event.discipline);
        return {};
    }
    Result<void> operator()(const PartWaits& event) {
        if (queue_ == nullptr) return no_queue();
        if (queue_->has(event.part.id)) return invalid("part " + to_string(event.part.id) + " waits already");
        if (event.part.processors < 1 || event.part.length <= Duration{0})
            return invalid("a part that waits wants processors, for a time");
        if (event.part.share < 0 || event.part.share > 100) return invalid("a share is 0 to 100 per cent");
        if (auto good = check_time(event.part.since); !good) return good;
        if (auto good = check_time(event.part.length); !good) return good;
        queue_->add(event.part);
        return {};
    }
    Result<void> operator()(const PartLeaves& event) {
        if (queue_ == nullptr) return no_queue();
        if (!queue_->has(event.id)) return invalid("part " + to_string(event.id) + " does not wait");
        queue_->remove(event.id);
        return {};
    }
    Result<void> operator()(const ProcessorsPromised& event) {
        if (queue_ == nullptr) return no_queue();
        for (const std::int32_t p : event.promise.processors)
            if (p < 0 || p >= processors_) return invalid("there is no processor " + std::to_string(p));
        if (queue_->has(event.id)) return invalid("part " + to_string(event.id) + " waits and has processors");
        const ProcessorCalendar::Promise& promise = event.promise;
        if (promise.when.end < promise.when.begin) return invalid("a promise ends before it begins");
        if (promise.share < 0 || promise.share > 100) return invalid("a share is 0 to 100 per cent");
        for (const Duration at : {event.at, promise.when.begin, promise.when.end, promise.expected_end})
            if (auto good = check_time(at); !good) return good;
        queue_->promise(event.id, event.party, event.promise, event.at);
        return {};
    }
    Result<void> operator()(const PromiseEnded& event) {
        if (queue_ == nullptr) return no_queue();
        if (auto good = check_time(event.at); !good) return good;
        queue_->withdraw_promise(event.id, event.at);
        return {};
    }
    Result<void> operator()(const WeightSet& event) {
        if (queue_ == nullptr) return no_queue();
        if (!(event.weight > 0)) return invalid("a weight is more than 0");
        queue_->set_weight(event.party, event.weight);
        return {};
    }
    Result<void> operator()(const Decided& event) {
        if (queue_ == nullptr) return no_queue();
        for (const auto& [id, mask] : event.usable)
            if (std::cmp_not_equal(mask.size(), processors_))
                return invalid("a mask has one entry for each of the " + std::to_string(processors_) + " processors");
        if (auto good = check_time(event.at); !good) return good;
        replayed = queue_->decide(event.at, event.usable);
        return {};
    }

    Result<void> operator()(const QueueContinued& event) {
        if (queue_ == nullptr) return no_queue();
        if (auto good = check_time(event.at); !good) return good;
        return queue_->recover(event);
    }

    QueueDecision replayed;

  private:
    static Error no_queue() { return invalid("the log has to begin with the zone that it is of"); }
    static Result<void> check_time(Duration at) {
        if (at > kMaxQueueTime || at < -kMaxQueueTime) return invalid("the time is out of range");
        return {};
    }

    std::int32_t processors_ = 0;
    std::int32_t row_size_ = 0;
    std::unique_ptr<ZoneQueue> queue_;
};

}  // namespace

Result<QueueReplay> replay(std::span<const QueueEvent> log) {
    QueueReplay outcome;
    Replayer replayer;
    for (std::size_t i = 0; i < log.size(); ++i) {
        if (auto done = std::visit(replayer, log[i]); !done)
            return Error{done.error().code, "event " + std::to_string(i + 1) + ": " + done.error().message, {}};
        const auto* decided = std::get_if<Decided>(&log[i]);
        if (decided == nullptr) continue;
        ++outcome.decisions;
        outcome.starts += decided->decision.starts.size();
        if (replayer.replayed == decided->decision) continue;
        outcome.first_difference = {i, decided->decision, std::move(replayer.replayed)};
        break;
    }
    return outcome;
}

}  // namespace zbs
