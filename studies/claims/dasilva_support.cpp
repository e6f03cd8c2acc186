#include "studies/claims/dasilva_support.hpp"

#include <algorithm>
#include <cctype>

#include "algorithms/sim/workload_generators.hpp"

namespace zbs::claims::dasilva {
namespace {

/// The figures that follow a plus-minus sign.
std::string spreads_of(std::string_view text) {
    constexpr std::string_view kSign = " ± ";
    std::string out;
    for (std::size_t at = text.find(kSign); at != std::string_view::npos; at = text.find(kSign, at)) {
        at += kSign.size();
        const std::size_t end = std::min(text.find_first_not_of("0123456789.", at), text.size());
        std::string_view figure = text.substr(at, end - at);
        if (figure.ends_with('.')) figure.remove_suffix(1);
        out += (out.empty() ? "" : ", ") + std::string(figure);
    }
    return out.empty() ? "exact" : out;
}

const std::vector<SizeClass>& size_classes() {
    static const std::vector<SizeClass> classes =
        parse_size_classes(example_size_classes(), "example size classes").value();
    return classes;
}
}  // namespace

std::string without_nan(std::string text) {
    const auto letter = [&text](std::size_t at) {
        return at < text.size() && std::isalpha(static_cast<unsigned char>(text[at])) != 0;
    };
    for (const std::string_view word : {"nan", "inf"})
        for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
            if (letter(at + word.size()) || (at > 0 && letter(at - 1))) continue;
            const std::size_t sign = at > 0 && text[at - 1] == '-' ? 1 : 0;
            text.replace(at - sign, word.size() + sign, kUndefined);
        }
    return text;
}

Workload jann_workload(std::int32_t processors, std::int64_t jobs, std::uint64_t seed, double gap_factor) {
    return generate(HyperErlangWorkload{.common = {.jobs = jobs, .processors = processors, .seed = seed},
                                        .classes = size_classes(),
                                        .gap_factor = gap_factor})
        .value();
}

void Findings::add(std::string id, std::string claim, std::string published, std::string ours,
                   const Conditions& conditions, const Reason& reason, std::string see, std::string_view remark) {
    std::string known(remark);
    if (!note_.empty()) known += (known.empty() ? "" : "; ") + note_;
    Claim entry{.id = "DaSilva-" + std::move(id),
                .source = "DaSilva2000",
                .claim = std::move(claim),
                .published = std::move(published),
                .ours = ours,
                .spread = spreads_of(ours),
                .see = std::move(see)};
    part_.claims.push_back(judged(std::move(entry), conditions, known, reason));
}

void Findings::add_table(const std::string& name, std::string text) {
    part_.files.push_back({name + ".csv", std::move(text)});
}

}  // namespace zbs::claims::dasilva
