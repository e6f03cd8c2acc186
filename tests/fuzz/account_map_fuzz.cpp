#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "services/common/messages/limits.hpp"
#include "services/zone_scheduler/trust/site_policy/account_map.hpp"
#include "tests/fuzz/mutation.hpp"

// Any text as an account map: a refusal has a message and a place inside the text; what is accepted gives only valid
// accounts and pools that exist, and no account through two doors.

namespace {
using namespace zbs;

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "account_map_fuzz: broken: %s\n", what);
    std::abort();
}
std::uint64_t accepted = 0;
std::uint64_t decided = 0;

void check_decision(const AccountMap& map, const AccountDecision& decision, int lines) {
    using Kind = AccountDecision::Kind;
    require((decision.kind == Kind::kNone) == (decision.line == 0), "a decision without its line");
    require(decision.line <= lines, "a decision from behind the end");
    require(decision.gives_account() != decision.name.empty(), "a decision without its name");
    if (decision.kind != Kind::kNone) ++decided;
    if (decision.kind == Kind::kAccount) require(is_valid_account(decision.name), "an account that is none");
    if (decision.kind != Kind::kPool) return;
    const auto accounts = map.pool(decision.name);
    require(!accounts.empty() && accounts.size() <= limits::kMaxPoolAccounts, "a pool that is empty or too large");
    require(std::all_of(accounts.begin(), accounts.end(), is_valid_account), "a pool with an account that is none");
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const int lines = 1 + static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    const Result<AccountMap> map = AccountMap::parse(text, "m");
    if (!map) {
        require(!map.error().message.empty(), "a refusal without message");
        require(map.error().pointer.starts_with("m:"), "a refusal without place");
        const int line = std::atoi(map.error().pointer.c_str() + 2);
        require(line >= 1 && line <= lines, "a refusal at a place that is not there");
        return 0;
    }
    ++accepted;
    static const std::vector<std::string> no_groups, groups = {"physics", "staff"};
    for (const OrganisationName& organisation :
         {OrganisationName("alpha"), OrganisationName("beta"), OrganisationName("x.edu")}) {
        for (const char* name : {"ann", "mallory"}) {
            const Caller user{CallerKind::kUser, organisation, name};
            for (const auto* own : {&no_groups, &groups}) check_decision(*map, map->find(user, *own), lines);
            require(!map->find({CallerKind::kZone, organisation, name}, groups).gives_account(), "a zone's account");
        }
    }
    return 0;
}

#ifndef ZBS_LIBFUZZER
int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 20'000;
    const std::vector<std::string> seeds = {
        "# map\npool physics = phys[08-11] guest\nalpha mallory * -> deny\nalpha * physics* -> pool:physics\n",
        "* * * -> acc\r\nbeta a*n staff -> annb # comment\n", "pool p = a[1-3] b-[01-12]\n*.edu * * -> pool:p\n"};
    const std::vector<std::string> pieces = {" ",
                                             "\t",
                                             "\n",
                                             "*",
                                             "->",
                                             "=",
                                             "[",
                                             "]",
                                             "-",
                                             "#",
                                             "pool ",
                                             "pool:",
                                             "deny",
                                             "root",
                                             "a[0-99999]",
                                             "[01-02]",
                                             "[2-1]",
                                             "alpha",
                                             "\xff",
                                             std::string(1, '\0'),
                                             std::string(70, 'x'),
                                             "* * * -> z\n",
                                             "pool q = c\n"};
    Rng rng(6);
    for (int round = 0; round < rounds; ++round) {
        std::string text = seeds[rng.below(seeds.size())];
        fuzz::mutate(text, rng, pieces, 4, 4);
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    }
    require(accepted > static_cast<std::uint64_t>(rounds) / 10,
            "hardly anything is accepted: the fuzzer tries nothing");
    require(decided > accepted, "hardly any line fits: the fuzzer tries nothing");
    std::printf("%d texts, %llu accepted\n", rounds, static_cast<unsigned long long>(accepted));
}
#endif
