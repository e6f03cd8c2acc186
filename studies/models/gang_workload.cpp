#include "studies/models/gang_workload.hpp"

#include <algorithm>
#include <array>
#include <ostream>

#include "algorithms/base/expects.hpp"
#include "algorithms/base/random_variates.hpp"

namespace zbs {
namespace {

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    std::uint64_t z = a + 0x9e3779b97f4a7c15ULL * (b + 1);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, JobKind kind) {
    static constexpr std::array kWords{"compute", "io", "messages", "barriers"};
    return out << kWords[static_cast<std::size_t>(kind)];
}

Result<GangWorkload> make_gang_workload(const Workload& source, std::span<const JobKind> kinds,
                                        const BurstOptions& bursts, std::uint64_t seed) {
    if (kinds.empty()) return invalid("a gang workload needs at least one kind of job");
    for (const Duration mean : {bursts.io, bursts.compute_between_io, bursts.between_messages, bursts.between_barriers})
        if (mean < Duration{1}) return invalid("means of bursts are at least 1 us");
    GangWorkload workload{.processors = source.processors, .bursts = bursts, .jobs = {}};
    Rng rng(seed);
    for (const WorkloadJob& from : source.jobs) {
        GangJob job{.id = from.job.id,
                    .arrival = from.job.submit,
                    .processors = from.job.processors,
                    .memory = from.job.memory_bytes,
                    .kind = kinds[rng.below(kinds.size())],
                    .work = from.runtime,
                    .seed = rng.next(),
                    .script = nullptr};
        if (job.processors == 1 && (job.kind == JobKind::kMessages || job.kind == JobKind::kBarriers))
            job.kind = JobKind::kCompute;
        workload.jobs.push_back(std::move(job));
    }
    return workload;
}

TaskProgram::TaskProgram(const BurstOptions& bursts, const GangJob& job, std::int32_t task)
    : bursts_(&bursts),
      job_(&job),
      task_(task),
      rng_(mix(job.seed, static_cast<std::uint64_t>(task))),
      left_(job.work) {
    ZBS_EXPECTS(task >= 0 && task < job.processors);
    if (job.kind == JobKind::kMessages)
        rounds_ = std::max<std::int64_t>(1, (job.work + bursts.between_messages / 2) / bursts.between_messages);
}

Duration TaskProgram::draw(Duration mean, Rng& rng) const {
    const auto whole = static_cast<double>(mean.count());
    double drawn = whole;
    if (bursts_->shape == BurstOptions::Shape::kExponential) drawn = whole * draw_exponential(rng);
    if (bursts_->shape == BurstOptions::Shape::kUniform) drawn = 2 * whole * rng.uniform();
    return Duration{std::max<std::int64_t>(1, static_cast<std::int64_t>(drawn + 0.5))};
}

TaskStep TaskProgram::next() {
    if (job_->script) {
        const std::vector<TaskStep>& steps = job_->script->at(static_cast<std::size_t>(task_));
        const auto at = static_cast<std::size_t>(round_++);
        return at < steps.size() ? steps[at] : TaskStep{};
    }
    switch (job_->kind) {
        case JobKind::kCompute:
            return std::exchange(computed_, true) ? TaskStep{} : TaskStep{TaskStep::Kind::kCompute, -1, left_};
        case JobKind::kIo:
            return next_io();
        case JobKind::kMessages:
            return next_message();
        case JobKind::kBarriers:
            return next_barrier();
    }
    return {};
}

TaskStep TaskProgram::next_io() {
    if (left_ <= Duration{0}) return {};
    const bool compute = !computed_;
    computed_ = compute;
    const Duration time = std::min(left_, draw(compute ? bursts_->compute_between_io : bursts_->io, rng_));
    left_ -= time;
    return {compute ? TaskStep::Kind::kCompute : TaskStep::Kind::kIo, -1, time};
}

TaskStep TaskProgram::next_message() {
    while (round_ < rounds_) {
        if (!computed_) {
            computed_ = true;
            return {TaskStep::Kind::kCompute, -1, draw(bursts_->between_messages, rng_)};
        }
        computed_ = false;
        const std::uint64_t round = mix(job_->seed ^ 0x6d657373616765ULL, static_cast<std::uint64_t>(round_++));
        const auto n = static_cast<std::uint64_t>(job_->processors);
        const std::uint64_t c = n == 2 ? 1 : (round >> 32) % n;  // two tasks always have each other
        const auto peer = static_cast<std::int32_t>((c + n - static_cast<std::uint64_t>(task_)) % n);
        if (peer == task_) continue;  // left over this time
        const std::int32_t lower = std::min(peer, task_);
        const bool lower_sends = (mix(round, static_cast<std::uint64_t>(lower)) & 1) != 0;
        return {lower_sends == (lower == task_) ? TaskStep::Kind::kSend : TaskStep::Kind::kReceive, peer, {}};
    }
    return {};
}

TaskStep TaskProgram::next_barrier() {
    if (computed_) {
        computed_ = false;
        return {TaskStep::Kind::kBarrier, -1, {}};
    }
    if (left_ <= Duration{0}) return {};
    Rng superstep(mix(job_->seed, static_cast<std::uint64_t>(round_++)));
    const Duration time = std::min(left_, draw(bursts_->between_barriers, superstep));
    left_ -= time;
    computed_ = true;
    return {TaskStep::Kind::kCompute, -1, time};
}

}  // namespace zbs
