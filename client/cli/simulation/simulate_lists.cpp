#include "client/cli/simulation/simulate_lists.hpp"

#include "algorithms/allocation/registry.hpp"
#include "algorithms/gang/packing.hpp"
#include "algorithms/policy/registry.hpp"
#include "algorithms/sim/workload_generators.hpp"

namespace zbs::cli {
namespace {

/// A listing of things with options: a row for each thing, then one for each of its options.
class OptionListing {
  public:
    OptionListing(std::string noun, std::string kind)
        : listing_{std::move(noun), {std::move(kind), "OPTION", "DEFAULT", "MEANING"}, {}, {}} {
        listing_.items = codec::Json::array();
    }

    template <class Table>
    void add(std::string_view name, const std::string& meaning, codec::Json item, const Table& options) {
        listing_.rows.push_back({std::string(name), "", "", meaning});
        codec::Json items = codec::Json::array();
        for (const auto& option : options) {
            const std::string text(option.default_value);
            listing_.rows.push_back({"", std::string(option.name), text, std::string(option.meaning)});
            items.push_back({{"name", option.name}, {"default", text}, {"meaning", option.meaning}});
        }
        item["options"] = std::move(items);
        listing_.items.push_back(std::move(item));
    }
    const Listing& listing() const { return listing_; }

  private:
    Listing listing_;
};

std::string text(std::string_view first, const char* word, std::string_view second) {
    return std::string(first) + word + std::string(second);
}

}  // namespace

void list_all(Context& context) {
    Listing listing{"rules", {"KIND", "NAME", "WHAT", "SOURCE"}, {}, codec::Json::array(), 1};
    const auto add = [&listing](const char* kind, const auto& info) {
        listing.rows.push_back({kind, std::string(info.name), std::string(info.summary), std::string(info.source)});
        listing.items.push_back(
            {{"kind", kind}, {"name", info.name}, {"summary", info.summary}, {"source", info.source}});
    };
    for (const PolicyInfo& policy : policies()) add("policy", policy);
    for (const AllocatorInfo& allocator : allocators()) add("allocator", allocator);
    for (const gang::PackingInfo& rule : gang::packing_rules()) add("packing", rule);
    print(context, listing);
}

void list_policies(Context& context) {
    OptionListing listing("policies", "POLICY");
    for (const PolicyInfo& policy : policies())
        listing.add(
            policy.name,
            text(policy.summary, "; starvation: ", policy.starvation) + "; source: " + std::string(policy.source),
            {{"policy", policy.name},
             {"takes_turns", policy.takes_turns},
             {"summary", policy.summary},
             {"source", policy.source},
             {"starvation", policy.starvation}},
            policy.options);
    print(context, listing.listing());
}

void list_allocators(Context& context) {
    OptionListing listing("allocators", "ALLOCATOR");
    for (const AllocatorInfo& allocator : allocators())
        listing.add(allocator.name,
                    text(allocator.summary, "; ", allocator.machine) + "; source: " + std::string(allocator.source),
                    {{"allocator", allocator.name},
                     {"summary", allocator.summary},
                     {"source", allocator.source},
                     {"machine", allocator.machine}},
                    allocator.options);
    print(context, listing.listing());
}

void list_generators(Context& context) {
    OptionListing listing("generators", "GENERATOR");
    for (const GeneratorInfo& generator : workload_generators())
        listing.add(generator.name, std::string(generator.summary),
                    {{"generator", generator.name}, {"summary", generator.summary}}, generator.options);
    print(context, listing.listing());
}

}  // namespace zbs::cli
