#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/rng.hpp"
#include "services/common/codec/staging_codec.hpp"
#include "tests/fuzz/mutation.hpp"

// Any bytes as a message about staged files: no crash, no fault of a sanitizer; what is read is written and read back
// the same, and no name in it leads out of a folder.

namespace {
using namespace zbs;
using codec::Json;

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "staging_fuzz: broken: %s\n", what);
    std::abort();
}

std::uint64_t accepted = 0;

template <class Decode>
void try_as(const Json& json, Decode decode) {
    const auto value = decode(json);
    if (!value) return require(!value.error().message.empty(), "a refusal without a message");
    ++accepted;
    const auto again = decode(codec::encode(*value));
    require(again.has_value() && *again == *value, "a message changes on the way");
}

void check_name(const std::string& name) {
    require(!name.empty() && name[0] != '.' && name[0] != '/', "a name that leads elsewhere");
    require(("/" + name + "/").find("/../") == std::string::npos, "a name that leads out of a folder");
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto json = codec::parse(std::string_view(reinterpret_cast<const char*>(data), size));
    if (!json) return 0;
    try_as(*json, [](const Json& j) { return codec::decode_staging(j); });
    try_as(*json, [](const Json& j) { return codec::decode_staging_request(j); });
    try_as(*json, [](const Json& j) { return codec::decode_staging_status(j); });
    try_as(*json, [](const Json& j) { return codec::decode_file_chunk(j); });
    try_as(*json, [](const Json& j) { return codec::decode_file_presence(j); });
    try_as(*json, [](const Json& j) { return codec::decode_staged_results(j); });
    if (const auto staging = codec::decode_staging(*json))
        for (const StagedFile& file : staging->inputs) check_name(file.name);
    if (const auto results = codec::decode_staged_results(*json))
        for (const ResultFile& file : results->files) check_name(file.name);
    return 0;
}

#ifndef ZBS_LIBFUZZER
int main(int argc, char** argv) {
    const std::uint64_t runs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20000;
    const std::vector<std::string> pieces = {
        "null", "-1",      "18446744073709551615", "\"../x\"", "/", "\"\"", "{", "[]", "=", "\\u0000", "true", "\"*\"",
        ".",    "\"Zg==\""};
    const std::string digest(64, 'a');
    const Staging staging{.inputs = {{"solver", digest, 5, true}, {"in.dat", digest, 7, false}},
                          .results = {"*.dat", "x"},
                          .program = "solver"};
    const std::vector<Json> messages = {codec::encode(staging),
                                        codec::encode(StagingRequest{3, staging}),
                                        codec::encode(StagingStatus{{{digest, 3, false}, {digest, 5, true}}}),
                                        codec::encode(FileChunk{4, 10, 2, "abcd"}),
                                        codec::encode(FilePresence{digest, 3, false}),
                                        codec::encode(StagedResults{true, {{"a", digest, 3, "zone-b"}}, {"a note"}})};
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
        Rng rng(seed);
        std::string text = codec::dump(messages[rng.below(messages.size())]);
        fuzz::mutate(text, rng, pieces);
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    }
    require(accepted > runs / 50, "hardly anything was read: the inputs are no use");
    std::printf("staging_fuzz: %llu inputs, %llu read\n", static_cast<unsigned long long>(runs),
                static_cast<unsigned long long>(accepted));
    return 0;
}
#endif
