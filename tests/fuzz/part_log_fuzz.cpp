#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "services/zone_scheduler/program/commands/step_replay.hpp"
#include "tests/fuzz/mutation.hpp"
#include "tests/support/sample_parts.hpp"

// Any bytes as the log of parts and applications: no crash, no fault of a sanitizer; a line that is read is written and
// read back the same; the log is replayed or refused with a message and a place.

namespace {
using namespace zbs;

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "part_log_fuzz: broken: %s\n", what);
    std::abort();
}

std::uint64_t replayed = 0, same = 0, lines = 0;

void check_line(const std::string& text) {
    const auto json = codec::parse(text);
    if (!json) return;
    const auto line = codec::decode_step_log_line(*json);
    if (!line) return;
    ++lines;
    const std::string written = codec::dump(codec::encode(*line));
    const auto again = codec::decode_step_log_line(*codec::parse(written));
    require(again.has_value() && codec::dump(codec::encode(*again)) == written, "a line changes on the way");
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) check_line(line);
    std::istringstream log(text);
    const auto done = replay_steps(log, "log");
    if (!done) {
        require(!done.error().message.empty() && done.error().pointer.starts_with("log:"), "a refusal without place");
        return 0;
    }
    ++replayed;
    if (!done->first_difference) ++same;
    return 0;
}

#ifndef ZBS_LIBFUZZER
namespace {
/// An application and its first steps, of a life that ends well.
std::string lines_of_application(const test::SampleParts& zone, std::uint64_t steps) {
    ApplicationRun run;
    run.app.owner = {CallerKind::kUser, "org-b", "ana"};
    run.app.request.id = ApplicationId{make_id128(1, 0, 0)};
    run.app.request.ranks = 2;
    run.app.status.history.push_back({ApplicationState::kAccepted, zone.kWall});
    PartStatus part = zone.record().status;
    event::PlanMade made;
    made.choice.plan.zone_of_rank = {"b", "b"};
    made.ids = {part.id};
    const auto answer = [&part, &zone](Question question, PartState state) {
        part.state = state;
        return event::PartAnswered{question, part.id, zone.kNow, part};
    };
    using Proxies = event::LauncherSeen::Proxies;
    const std::vector<ApplicationInput> events = {
        made,
        event::Advance{},
        answer(Question::kHold, PartState::kHeld),
        event::Advance{},
        answer(Question::kCommit, PartState::kCommitted),
        event::Advance{},
        event::Advance{},
        event::LauncherSeen{.runs = true, .proxies = Proxies::kAwaited, .asked = {{{"--port", "1"}}}},
        answer(Question::kLaunch, PartState::kRunning),
        event::LauncherSeen{.runs = true, .proxies = Proxies::kConnected},
        event::Watched{.runs = false, .is_clean = true},
        answer(Question::kEnd, PartState::kCompleted),
        event::EndFound{{.state = ApplicationState::kCompleted, .exit_code = 0}}};
    std::string text = codec::dump(codec::encode_application(run)) + "\n";
    const Moment now{zone.kWall, zone.kNow};
    for (std::size_t n = 0; n < std::min<std::size_t>(steps, events.size()); ++n) {
        codec::LoggedApplicationStep logged{run.app.request.id, events[n], now, true, {}};
        logged.outcome = *codec::take_again(run, logged, zone.config);
        text += codec::dump(codec::encode(logged)) + "\n";
    }
    return text;
}
}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t runs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20000;
    const std::vector<std::string> pieces = {"null",
                                             "0",
                                             "-1",
                                             "1125899906842624",
                                             "\"held\"",
                                             "\"returning\"",
                                             "\n",
                                             "{",
                                             "[]",
                                             "\"event\":\"launch\"",
                                             "1e9",
                                             "\"running\"",
                                             "\"\"",
                                             "{}",
                                             "true",
                                             "\"stage\":\"to_judge\"",
                                             ",",
                                             "\"phase\":\"concluding\"",
                                             "\"question\":\"end\"",
                                             "\"parts\":[]"};
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
        test::SampleParts parts;
        parts.rng = Rng(seed);
        std::string text = codec::dump(codec::encode_step_settings(parts.config)) + "\n";
        part::State part = parts.rng.below(3) == 0 ? parts.queued() : parts.held();
        text += codec::dump(codec::encode(part::Trace{part})) + "\n";
        for (std::uint64_t n = 1 + parts.rng.below(6); n > 0; --n) {
            const part::Event event = parts.any_event(part, parts.kNow);
            const part::Now now{parts.kNow, parts.kWall};
            Result<part::Step> step = part::step(parts.config, part, event, now);
            if (!step || !step->next) continue;
            part = *std::move(step->next);
            text += codec::dump(codec::encode(part::Trace{part, &event, now})) + "\n";
        }
        if (seed % 2 == 0) text += lines_of_application(parts, parts.rng.below(20));
        fuzz::mutate(text, parts.rng, pieces);
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    }
    require(lines > runs && replayed > runs / 10 && same > runs / 20,
            "hardly anything was read: the inputs are no use");
    std::printf("part_log_fuzz: %llu inputs, %llu lines read, %llu replayed, %llu of them the same\n",
                static_cast<unsigned long long>(runs), static_cast<unsigned long long>(lines),
                static_cast<unsigned long long>(replayed), static_cast<unsigned long long>(same));
    return 0;
}
#endif
