#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "services/common/adapters/process/start/starter_message.hpp"
#include "tests/fuzz/mutation.hpp"

// Any bytes as messages to and from a starter of steps: refused with a message, or the same bytes when written again.

namespace {
using namespace zbs::process;

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "starter_message_fuzz: broken: %s\n", what);
    std::abort();
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto arguments = decode_arguments(text)) {
        require(encode_arguments(*arguments) == text, "arguments lost or made up");
        require(!arguments->empty() && arguments->front().starts_with("--"), "the first is no option");
    } else {
        require(!arguments.error().message.empty(), "refused without a word");
    }
    if (const auto reply = decode_starter_reply(text)) {
        require(decode_starter_reply(encode(*reply)) == reply, "not read back");
        require(reply->pid > 0 || text.starts_with("refused "), "nobody was started and nothing refused");
    }
    if (const auto number = decode_attendance(text))
        require(std::string(kAttendance) + *number == text, "another number");
    const std::string unit = name_unit({"--operation", std::string(text)}, "0123456789");
    require(unit.size() < 255 && unit.find_first_of("/@% \n") == unit.npos, "no name of a unit");
    return 0;
}

#ifndef ZBS_LIBFUZZER
int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 20'000;
    const std::vector<std::string> seeds = {
        encode_arguments({"--operation", "a", "--", "/bin/true"}), encode(StarterReply{17, {}}),
        std::string(kAttendance) + std::string(kRequestNumberLength, 'a'), encode(StarterReply{0, "no"})};
    const std::vector<std::string> pieces = {std::string(1, '\0'), "--", "started ", "refused ", "-", "99999999999"};
    zbs::Rng rng(7);
    int accepted = 0;
    for (int round = 0; round < rounds; ++round) {
        std::string text = seeds[rng.below(seeds.size())];
        zbs::fuzz::mutate(text, rng, pieces, 4, 4);
        accepted += decode_arguments(text).has_value() || decode_starter_reply(text).has_value() ||
                    decode_attendance(text).has_value();
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    }
    require(accepted > rounds / 10 && accepted < rounds * 9 / 10, "hardly anything is accepted, or refused");
    std::printf("%d texts, %d accepted\n", rounds, accepted);
}
#endif
