#include "client/cli/simulation/simulate_lists.hpp"

#include <utility>

#include "client/cli/document_codec.hpp"

namespace zbs::cli {
namespace {

/// A listing of things with options: a row for each thing, then one for each of its options.
class OptionListing {
  public:
    OptionListing(std::string noun, std::string kind)
        : listing_{std::move(noun), {std::move(kind), "OPTION", "DEFAULT", "MEANING"}, {}, {}} {
        listing_.items = codec::Json::array();
    }

    template <class Info>
    void add(const Info& info, const std::string& meaning) {
        listing_.rows.push_back({std::string(info.name), "", "", meaning});
        codec::Json options = codec::Json::array();
        for (const auto& option : info.options) {
            const std::string text(option.default_value);
            listing_.rows.push_back({"", std::string(option.name), text, std::string(option.meaning)});
            options.push_back(encode_option(option.name, text, option.meaning));
        }
        listing_.items.push_back(encode(info, std::move(options)));
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
        listing.items.push_back(encode_rule(kind, info.name, info.summary, info.source));
    };
    for (const PolicyInfo& policy : policies()) add("policy", policy);
    for (const AllocatorInfo& allocator : allocators()) add("allocator", allocator);
    for (const gang::PackingInfo& rule : gang::packing_rules()) add("packing", rule);
    print(context, listing);
}

void list_policies(Context& context) {
    OptionListing listing("policies", "POLICY");
    for (const PolicyInfo& policy : policies())
        listing.add(policy, text(policy.summary, "; starvation: ", policy.starvation) +
                                "; source: " + std::string(policy.source));
    print(context, listing.listing());
}

void list_allocators(Context& context) {
    OptionListing listing("allocators", "ALLOCATOR");
    for (const AllocatorInfo& allocator : allocators())
        listing.add(allocator,
                    text(allocator.summary, "; ", allocator.machine) + "; source: " + std::string(allocator.source));
    print(context, listing.listing());
}

void list_generators(Context& context) {
    OptionListing listing("generators", "GENERATOR");
    for (const GeneratorInfo& generator : workload_generators()) listing.add(generator, std::string(generator.summary));
    print(context, listing.listing());
}

}  // namespace zbs::cli
