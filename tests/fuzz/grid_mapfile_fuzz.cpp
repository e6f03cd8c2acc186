#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "services/common/messages/limits.hpp"
#include "services/common/messages/names/identity.hpp"
#include "services/zone_scheduler/trust/site_policy/grid_mapfile.hpp"
#include "tests/fuzz/mutation.hpp"

// Any text as a grid-mapfile: a refusal has a message and a place inside the text; what is accepted names only users
// that can be, and comes out the same when it is written down and read again.

namespace {
using namespace zbs;

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "grid_mapfile_fuzz: broken: %s\n", what);
    std::abort();
}
std::uint64_t accepted = 0;
std::uint64_t subjects = 0;

std::string written(const std::map<std::string, std::string>& map) {
    std::string text;
    for (const auto& [subject, user] : map) {
        text += '"';
        for (const char c : subject) {
            if (c == '"' || c == '\\') text += '\\';
            text += c;
        }
        text += "\" " + user + "\n";
    }
    return text;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const int lines = 1 + static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    const auto map = parse_grid_mapfile(text, "m");
    if (!map) {
        require(!map.error().message.empty(), "a refusal without message");
        require(map.error().pointer.starts_with("m:"), "a refusal without place");
        const int line = std::atoi(map.error().pointer.c_str() + 2);
        require(line >= 1 && line <= lines, "a refusal at a place that is not there");
        return 0;
    }
    ++accepted;
    subjects += map->size();
    for (const auto& [subject, user] : *map) {
        require(is_valid_name(user), "a user that is none");
        require(!subject.empty() && subject.size() <= limits::kMaxSubjectBytes, "a subject out of bounds");
        require(subject.find('\n') == std::string::npos, "a subject over two lines");
    }
    const auto again = parse_grid_mapfile(written(*map), "m");
    require(again && *again == *map, "what was read cannot be written and read again");
    return 0;
}

#ifndef ZBS_LIBFUZZER
int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 20'000;
    const std::vector<std::string> seeds = {"# map\n\"/C=BR/O=Grid/CN=Ana Souza\" ana\n/O=Grid/CN=bob bob # left\n",
                                            "\"CN=Zoe\\\\, M.D.,O=Grid\" zoe\r\n\"/CN=J\\xC3 \\\"Ju\\\"\" julia\n"};
    const std::vector<std::string> pieces = {" ",
                                             "\t",
                                             "\n",
                                             "\r",
                                             "\"",
                                             "\\",
                                             "\\\"",
                                             "\\\\",
                                             "#",
                                             ",",
                                             ".pool",
                                             "/CN=",
                                             "=",
                                             "ana",
                                             "Ana",
                                             "\xff",
                                             std::string(1, '\0'),
                                             "\x1b",
                                             std::string(1'100, 'x'),
                                             "\n/CN=a b\n",
                                             "\n/CN=a c\n"};
    Rng rng(11);
    for (int round = 0; round < rounds; ++round) {
        std::string text = seeds[rng.below(seeds.size())];
        fuzz::mutate(text, rng, pieces, 4, 4);
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    }
    require(accepted > static_cast<std::uint64_t>(rounds) / 10,
            "hardly anything is accepted: the fuzzer tries nothing");
    require(subjects > accepted, "hardly any line is a subject: the fuzzer tries nothing");
    std::printf("%d texts, %llu accepted\n", rounds, static_cast<unsigned long long>(accepted));
}
#endif
