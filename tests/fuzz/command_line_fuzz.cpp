#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/duration_text.hpp"
#include "client/cli/submission/directives.hpp"
#include "services/common/adapters/command_line/pages/program_words.hpp"
#include "services/common/listing/rows.hpp"
#include "tests/fuzz/mutation.hpp"

// Any text as the head of a script, a filter, a cell and a span of time: directives keep to their limits, what is
// written drives no terminal, a span that is read lies in its range.

namespace {
using namespace zbs;

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "command_line_fuzz: broken: %s\n", what);
    std::abort();
}
std::uint64_t read_directives = 0;

/// Every word belongs to the parser or to the program, in their order, and those of the program are as they were.
void check_words(const std::string& text) {
    std::vector<std::string> words{"-n", "2"}, program;
    for (std::size_t at = 0; at <= text.size();) {  // CLI11 takes words that end at a NUL
        const std::size_t end = std::min(text.find_first_of(std::string_view(" \n\0", 3), at), text.size());
        words.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    CLI::App app;
    int ranks = 0;
    std::string name;
    app.add_option("-n,--ntasks", ranks);
    app.add_option("--env", name);
    command_line::add_program(app, program, "");
    const command_line::DividedWords divided = command_line::divide_words(app, words);
    require(std::equal(divided.program.rbegin(), divided.program.rend(), words.rbegin()),
            "words of the program changed");
    require(divided.own.size() + divided.program.size() >= words.size(), "words are lost");
    try {
        command_line::read_words(app, "tool", divided);
        require(program == divided.program, "CLI11 changed words of the program");
    } catch (const CLI::ParseError&) {
    }
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    if (const auto head = cli::read_script_head(text)) {
        require(head->is_script || head->directives.empty(), "directives of no script");
        require(head->directives.size() <= cli::kMaxDirectives, "too many directives");
        for (const cli::Directive& directive : head->directives)
            require(directive.line > 1 && !directive.words.empty(), "a directive of nothing");
        read_directives += head->directives.size();
        require(head->is_script || (head->foreign.empty() && head->too_late == 0), "marks of no script");
        require(head->too_late == 0 || head->directives.empty() || head->too_late > head->directives.back().line + 1,
                "a directive that is too late stands among the others");
    } else {
        require(head.error().pointer.starts_with("line "), "a fault without its line");
    }
    check_words(text);
    listing::Listing jobs{"jobs", {"NAME", "COUNT"}, {{text, 3}, {"b", 4}}, codec::Json::array()};
    if (const auto rows = listing::chosen(jobs, {.sort = {"name"}, .filters = {"name" + text.substr(0, 40)}}))
        require(rows->rows.size() <= 2, "rows out of nothing");
    for (const char* format : {"table", "csv", "name"})
        for (const char c : listing::written(jobs, format))
            require(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f),
                    "a control character is written");
    if (const auto time = parse_duration(text))
        require(*time >= Duration{0} && *time <= std::chrono::hours{366 * 24}, "a span outside of its range");
    return 0;
}

#ifndef ZBS_LIBFUZZER
int main(int argc, char** argv) {
    const std::uint64_t runs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20000;
    const std::vector<std::string> pieces = {"#ZBS ",    "'",  "\"",   "\\", "\n", "#!", "\x1b[2J",
                                             "\xc2\x9b", "=1", "P1DT", "1-", ":",  "\r"};
    const std::vector<std::string> seeds = {"#!/bin/sh\n#ZBS -n 8 --env 'A=x y'\n# more\n#ZBS --walltime 1h\necho\n",
                                            "=a,b", "PT1H30M", "1-12:00:00", "1 h 30 min"};
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
        Rng rng(seed);
        std::string text = seeds[rng.below(seeds.size())];
        fuzz::mutate(text, rng, pieces);
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    }
    require(read_directives > runs / 50, "hardly anything was read: the inputs are no use");
    std::printf("command_line_fuzz: %llu inputs, %llu directives read\n", static_cast<unsigned long long>(runs),
                static_cast<unsigned long long>(read_directives));
    return 0;
}
#endif
