#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/rng.hpp"
#include "services/common/adapters/system/config_file.hpp"
#include "services/zone_scheduler/config/zone_config_file.hpp"
#include "tests/fuzz/mutation.hpp"
#include "tests/support/temporary_folder.hpp"

// Any texts as a zone's configuration and two of its parts: whatever is nested, merged or cut off is read or refused,
// every fault and every setting has a file and a line that are there, and reading changes nothing.

namespace {
using namespace zbs;

void require(bool holds, const char* what, const std::string& detail = {}) {
    if (holds) return;
    std::fprintf(stderr, "config_fuzz: broken: %s: %s\n", what, detail.c_str());
    std::abort();
}

/// Between the texts of one input.
constexpr std::string_view kNextFile = "\n#%%\n";

std::uint64_t accepted = 0, merged = 0, too_deep = 0;

struct Files {
    test::TemporaryFolder folder;
    std::string main = folder.path("zone.toml");
    std::vector<std::string> all{main, folder.path("zone.d/10.toml"), folder.path("zone.d/20.toml")};
    std::vector<std::size_t> lines;

    Files() { std::filesystem::create_directory(folder.path("zone.d")); }

    void write(std::string_view text) {
        lines.clear();
        for (const std::string& path : all) {
            const std::size_t end = std::min(text.find(kNextFile), text.size());
            const std::string_view one = text.substr(0, end);
            std::ofstream(path, std::ios::binary | std::ios::trunc) << one;
            lines.push_back(static_cast<std::size_t>(std::ranges::count(one, '\n')) + 1);
            text.remove_prefix(std::min(end + kNextFile.size(), text.size()));
        }
    }

    /// Whether `place` is one of them, with a line of it where it has one.
    bool has(std::string_view place) const {
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (!place.starts_with(all[i])) continue;
            place.remove_prefix(all[i].size());
            if (place.empty()) return true;
            std::size_t line = 0;
            const char* const end = place.data() + place.size();
            return place[0] == ':' && std::from_chars(place.data() + 1, end, line).ptr == end && line >= 1 &&
                   line <= lines[i] + 1;  // an end that came too early
        }
        return false;
    }
};
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static Files files;
    files.write({reinterpret_cast<const char*>(data), size});
    const auto settings = read_zone_settings(files.main, "/usr/bin");
    const auto again = read_zone_settings(files.main, "/usr/bin");
    require(settings.has_value() == again.has_value(), "read otherwise the second time");
    if (!settings) {
        const Error& fault = settings.error();
        require(!fault.message.empty() && fault.message == again.error().message, "a fault without its message");
        require(files.has(fault.pointer), "a fault without its place", fault.pointer + ": " + fault.message);
        if (fault.message.find("dots") != std::string::npos || fault.message.find("nest") != std::string::npos ||
            fault.message.find("depth") != std::string::npos)
            ++too_deep;
        return 0;
    }
    ++accepted;
    require(settings->files == files.all, "not the files that are there, in their order");
    require(settings->values == again->values, "other settings the second time");
    bool from_a_part = false;
    for (const ConfigValue& one : settings->values) {
        require(one.place.empty() || files.has(one.place), "a setting that stands nowhere", one.key + " " + one.place);
        require(std::ranges::count(one.key, '.') <= 16, "a setting deeper than any is", one.key);
        from_a_part = from_a_part || one.place.find("zone.d") != std::string::npos;
    }
    merged += from_a_part ? 1U : 0U;
    return 0;
}

#ifndef ZBS_LIBFUZZER
int main(int argc, char** argv) {
    const std::uint64_t runs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20000;
    const auto many = [](int count, const std::string& piece) {
        std::string text;
        for (int i = 0; i < count; ++i) text += piece;
        return text;
    };
    const std::vector<std::string> pieces = {"\n[[machine]]\n",
                                             "\n[mpi]\n",
                                             "\nqueue = 'easy'\n",
                                             "\ncontact = 'ana'\n",
                                             std::string(kNextFile),
                                             "'",
                                             "\"\"\"",
                                             "#",
                                             "\r\n",
                                             "= ",
                                             "{ a = ",
                                             "[",
                                             many(20, ".a"),
                                             many(40, "["),
                                             many(300, "{a="),
                                             many(60, "[{a.b.c=") + "1" + many(60, "}]"),
                                             "\nx" + many(20, ".y") + " = 1\n",
                                             "\n[" + many(20, "t.") + "t]\n",
                                             "\xff",
                                             std::string(1, '\0')};
    const std::string needed =
        "name = 'alpha'\norganisation = 'org-a'\nstate = '/tmp/none'\n[[machine]]\nname = 'm0'\nprocessors = 4\n";
    const std::string next(kNextFile);
    const std::vector<std::string> seeds = {
        needed + next + "contact = 'ana'\nqueue = 'easy'\n" + next + "contact = 'bo'\n[[machine]]\nname = 'm1'\n",
        needed + "[timing]\nlease_s = 40\n" + next + "[timing]\ndiscover_s = 2\n" + next + "timing.lease_s = 30\n",
        needed + next + "[[link]]\nzone = 'b'\ndelay_s = 0.1\nbandwidth_Bps = 1e7\n" + next +
            "hidden_paths = ['/a', '/b']\n"};
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
        Rng rng(seed);
        std::string text = seeds[rng.below(seeds.size())];
        fuzz::mutate(text, rng, pieces);
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    }
    require(accepted > runs / 20 && merged > runs / 20, "hardly anything was read: the inputs are no use");
    require(too_deep > runs / 200, "hardly anything was nested too deeply: the inputs are no use");
    std::printf("config_fuzz: %llu inputs, %llu read, %llu with parts, %llu too deep\n",
                static_cast<unsigned long long>(runs), static_cast<unsigned long long>(accepted),
                static_cast<unsigned long long>(merged), static_cast<unsigned long long>(too_deep));
    return 0;
}
#endif
