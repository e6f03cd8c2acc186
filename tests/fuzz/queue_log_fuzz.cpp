#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/rng.hpp"
#include "algorithms/queue/queue_log.hpp"
#include "services/common/codec/records/queue_log_codec.hpp"
#include "tests/fuzz/mutation.hpp"

// Any bytes as the log of a queue: no crash, no fault of a sanitizer; what is read is written and read back the same,
// and replayed or refused with a message and a place.

namespace {
using namespace zbs;
using namespace std::chrono_literals;

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "queue_log_fuzz: broken: %s\n", what);
    std::abort();
}

std::uint64_t accepted = 0, replayed = 0;

std::string write(const std::vector<QueueEvent>& events) {
    std::string text;
    for (const QueueEvent& event : events) text += codec::dump(codec::encode(event)) + "\n";
    return text;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto events = codec::read_queue_log(std::string_view(reinterpret_cast<const char*>(data), size));
    if (!events) {
        require(events.error().message.starts_with("line "), "a refusal without its line");
        return 0;
    }
    ++accepted;
    const auto again = codec::read_queue_log(write(*events));
    require(again.has_value() && *again == *events, "a log changes on the way");
    for (const QueueEvent& event : *events) {  // what a replay of so many would take is not what is looked for
        const auto* opened = std::get_if<QueueOpened>(&event);
        if (opened != nullptr && opened->processors > 10'000) return 0;
    }
    const auto done = replay(*events);
    if (done)
        ++replayed;
    else
        require(done.error().message.starts_with("event "), "a refusal without its place");
    return 0;
}

#ifndef ZBS_LIBFUZZER
int main(int argc, char** argv) {
    const std::uint64_t runs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20000;
    const std::vector<std::string> pieces = {"null",      "0",  "-1",   "1152921504606846976",     "[[0,3]]",
                                             "\"right\"", "\n", "{",    "\"event\":\"decided\"",   "1e9",
                                             "\"gang\"",  "[]", "\"\"", "\"easy:order=slowdown\"", ","};
    const auto part = [](std::uint64_t n) {
        Id128 id{};
        id.bytes.back() = static_cast<unsigned char>(n);
        return PartId{id};
    };
    const std::vector<std::string> policies = {"fcfs", "easy", "conservative", "los", "slack", "multiqueue"};
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
        Rng rng(seed);
        std::vector<QueueEvent> events = {QueueOpened{static_cast<std::int32_t>(1 + rng.below(8))},
                                          DisciplineChosen{policies[rng.below(policies.size())]}};
        const auto time = [&](std::uint64_t seconds) {
            return Duration{static_cast<std::int64_t>(rng.below(seconds * 1'000'000))};
        };
        Duration now{};
        for (std::uint64_t n = 1 + rng.below(12); n > 0; --n) {
            now += time(10);
            switch (rng.below(7)) {
                case 0:
                case 1:
                    events.emplace_back(
                        PartWaits{{part(n), "org-" + std::to_string(rng.below(3)), now,
                                   static_cast<std::int32_t>(1 + rng.below(9)), Duration{1} + time(100)}});
                    break;
                case 2:
                    events.emplace_back(ProcessorsPromised{
                        part(20 + n), "org-a", {{0}, {now + time(50), now + 50s + time(50)}, now + 50s}, now});
                    break;
                case 3:
                    events.emplace_back(PromiseEnded{part(20 + rng.below(12)), now});
                    break;
                case 4:
                    events.emplace_back(WeightSet{"org-a", 0.5});
                    break;
                case 5:
                    events.emplace_back(
                        QueueContinued{now,
                                       {{"org-1", static_cast<double>(rng.below(100))}},
                                       {.parts = {{part(n), JobRecord{.job = {.id = JobId{0}, .walltime = 1s},
                                                                      .walltime_left = 1s,
                                                                      .allocated = 1}}}}});
                    break;
                default:
                    events.emplace_back(Decided{now, {}, {}});
            }
        }
        std::string text = write(events);
        fuzz::mutate(text, rng, pieces);
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    }
    require(accepted > runs / 10 && replayed > runs / 10, "hardly anything was read: the inputs are no use");
    std::printf("queue_log_fuzz: %llu inputs, %llu read, %llu replayed\n", static_cast<unsigned long long>(runs),
                static_cast<unsigned long long>(accepted), static_cast<unsigned long long>(replayed));
    return 0;
}
#endif
