#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "client/calls/event_stream.hpp"
#include "services/common/codec/records/record_codec.hpp"
#include "tests/fuzz/mutation.hpp"

// Any bytes as a stream of server-sent events, whole and in pieces: the same events either way, none too large; what is
// read as a change of state is written and read back the same. With libFuzzer this is the whole program; without, a
// replay over changed streams.

namespace {
using namespace zbs;

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "event_stream_fuzz: broken: %s\n", what);
    std::abort();
}

std::uint64_t events = 0, changes = 0;
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    client::EventStream whole, cut;
    const std::vector<client::ServerEvent> found = whole.take(text);
    std::vector<client::ServerEvent> again;
    const std::size_t piece = size % 13 + 1;
    for (std::size_t at = 0; at < size; at += piece)
        for (client::ServerEvent& event : cut.take(std::string_view(text).substr(at, piece)))
            again.push_back(std::move(event));
    require(found == again && whole.last_id() == cut.last_id(), "pieces make a difference");
    for (const client::ServerEvent& event : found) {
        ++events;
        require(event.data.size() <= 2 * client::EventStream::kMaxLine, "an event is too large");
        const auto json = codec::parse(event.data);
        const auto change = json ? codec::decode_state_event(*json) : json.error();
        if (!change) continue;
        ++changes;
        const auto same = codec::decode_state_event(codec::encode(*change));
        require(same && *same == *change, "a change of state changes on the way");
    }
    return 0;
}

#ifndef ZBS_LIBFUZZER
int main(int argc, char** argv) {
    const std::uint64_t runs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20000;
    const StateEvent event{.id = 1'795'440'061'219'041,
                           .at = time_from_microseconds(1'795'440'061'219'000),
                           .application = {make_id128(1'700'000'000'000, 7, 1)},
                           .owner = Caller{CallerKind::kUser, "alpha", "ana"},
                           .state = "held",
                           .reason = "a\nb"};
    const std::string one = codec::event_text(event);
    const std::vector<std::string> seeds = {"retry: 1000\n\n" + one + ":\n\n" + one, one, "data\r\rdata: a\r\n\r\n:\n"};
    static const std::vector<std::string> pieces = {
        "\n", "\r", "\r\n", "\n\n", "id: ", "data: ", ":", "event: x\n", "{", "\"", "\xff", "\\u0000"};
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
        Rng rng(seed);
        std::string text = seeds[rng.below(seeds.size())];
        fuzz::mutate(text, rng, pieces, 4, 4);
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    }
    require(events > runs / 2 && changes > runs / 10, "hardly anything was read: the inputs are no use");
    std::printf("event_stream_fuzz: %llu inputs, all answered; %llu events, %llu changes of state read\n",
                static_cast<unsigned long long>(runs), static_cast<unsigned long long>(events),
                static_cast<unsigned long long>(changes));
    return 0;
}
#endif
