#include "algorithms/queue/discipline.hpp"

#include <string>
#include <utility>

#include "algorithms/policy/registry.hpp"

namespace zbs {

Result<Discipline> queue_discipline(std::string_view text, std::int32_t processors) {
    const std::string name(text.substr(0, text.find(':')));
    PolicyOptions options;
    while (text.find(':') != std::string_view::npos) {
        text.remove_prefix(text.find(':') + 1);
        const std::string_view one = text.substr(0, text.find(':'));
        const std::size_t equals = one.find('=');
        if (equals == std::string_view::npos || equals == 0)
            return invalid("'" + std::string(one) + "' is no option of a policy; write NAME:OPTION=VALUE");
        options.emplace_back(one.substr(0, equals), one.substr(equals + 1));
    }
    const Result<std::unique_ptr<Policy>> made = make_policy(name, options);
    if (!made) return made.error();
    if (auto serves = (*made)->serves(processors); !serves) return serves.error();
    const Policy::Needs needs = (*made)->needs();
    if (needs.moves)
        return invalid("policy '" + std::string(name) +
                       "' with these options moves jobs that run to other processors, which works in simulations only; "
                       "write migration=never, and another packing than ffd");
    if (needs.level < 1 || needs.level > kMostRows)
        return invalid("policy '" + std::string(name) + "' with these options lets " +
                       (needs.level < 1 ? "any number of" : std::to_string(needs.level)) +
                       " jobs share a processor; a zone takes at most " + std::to_string(kMostRows));
    return Discipline{
        .make = [name, options = std::move(options)] { return std::move(make_policy(name, options)).value(); },
        .sharing = (*made)->sharing(),
        .stops = needs.stops,
        .rows = needs.level};
}

}  // namespace zbs
