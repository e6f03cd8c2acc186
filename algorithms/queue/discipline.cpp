#include "algorithms/queue/discipline.hpp"

#include <string>
#include <utility>

#include "algorithms/policy/registry.hpp"

namespace zbs {

Result<ZoneQueue::MakePolicy> queue_discipline(std::string_view text, std::int32_t processors) {
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
    if ((*made)->sharing() != ZoneState::Sharing::kSpace || find_policy(name)->preempts)
        return invalid("policy '" + name +
                       "' lets jobs share processors by time; a queue needs one that gives each its own, such as "
                       "fcfs, easy, conservative or los");
    if (auto serves = (*made)->serves(processors); !serves) return serves.error();
    return ZoneQueue::MakePolicy(
        [name, options = std::move(options)] { return std::move(make_policy(name, options)).value(); });
}

}  // namespace zbs
