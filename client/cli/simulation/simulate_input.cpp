#include "client/cli/simulation/simulate_input.hpp"

#include <algorithm>

#include "algorithms/base/suggestion.hpp"
#include "algorithms/base/text.hpp"
#include "algorithms/formats/sacct.hpp"
#include "algorithms/sim/flexibility.hpp"
#include "algorithms/sim/workload_generators.hpp"
#include "client/cli/document_codec.hpp"
#include "client/cli/input.hpp"
#include "client/cli/simulation/workload_changes.hpp"

namespace zbs::cli {
namespace {

constexpr std::size_t kMaxTraceBytes = std::size_t{2} << 30;
constexpr std::size_t kMaxConfBytes = std::size_t{16} << 20;
constexpr std::size_t kMaxParameterBytes = std::size_t{1} << 20;

/// The file of the log.
const std::string& log_path(const WorkloadSource& source) { return source.sacct.empty() ? source.trace : source.sacct; }

/// The log's text. Compressed data that is cut off or damaged is an error that names the last good line; a lenient
/// reader takes the whole lines before, and describes the damage in `damage`.
Result<std::string> read_text(const WorkloadSource& source, std::optional<Error>& damage) {
    std::string before;
    Result<std::string> text = read_all(log_path(source), kMaxTraceBytes, &before);
    if (text || before.empty()) return text;
    before.resize(before.rfind('\n') == std::string::npos ? 0 : before.rfind('\n') + 1);
    Error fault = text.error();
    const auto lines = std::ranges::count(before, '\n');
    fault.pointer = log_path(source) + ":" + std::to_string(lines + 1);
    fault.message += "; " + std::to_string(lines) + " whole lines come before";
    if (!source.lenient) {
        fault.message += ": get the file again, or use those with --lenient";
        return fault;
    }
    damage = std::move(fault);
    return before;
}

/// The log in `text`; notes of its reader go to `loaded`.
Result<formats::SwfTrace> read_trace(const std::string& text, const WorkloadSource& source, LoadedWorkload& loaded) {
    const formats::SwfReadOptions options{.lenient = source.lenient};
    if (source.sacct.empty()) return formats::read_swf(text, source.trace, options);
    std::optional<formats::SlurmMachine> machine;
    if (!source.slurm_conf.empty()) {
        const Result<std::string> conf = read_all(source.slurm_conf, kMaxConfBytes);
        if (!conf) return conf.error();
        Result<formats::SlurmMachine> found = formats::read_slurm_conf(*conf, source.slurm_conf);
        if (!found) return found.error();
        machine = *std::move(found);
    }
    Result<formats::SacctLog> log = formats::read_sacct(text, source.sacct, machine ? &*machine : nullptr, options);
    if (!log) return log.error();
    loaded.notes = std::move(log->notes);
    return std::move(log->trace);
}

Result<LoadedWorkload> load_log(const WorkloadSource& source) {
    const Result<formats::SwfCleaning> rules = cleaning_of(source);
    if (!rules) return rules.error();
    LoadedWorkload loaded;
    Stopwatch watch;
    Result<std::string> text = read_text(source, loaded.damage);
    if (!text) return text.error();
    loaded.read_s = watch.lap();
    loaded.bytes = text->size();
    Result<formats::SwfTrace> trace = read_trace(*text, source, loaded);
    if (!trace) {
        Error fault = trace.error();
        if (source.sacct.empty() && fault.code == ErrorCode::kInvalidArgument)
            fault.message += ", or skip such lines with --lenient";
        return fault;
    }
    Result<formats::CleanedSwf> cleaned = formats::clean_swf(*trace, log_path(source), *rules);
    if (!cleaned) {
        Error fault = cleaned.error();
        // Fields are those of the other format.
        for (std::size_t at = 0; !source.sacct.empty() && (at = fault.message.find(" (field ")) != std::string::npos;)
            fault.message.erase(at, fault.message.find(')', at) + 1 - at);
        if (source.processors == 0 && !trace->processors() && !trace->records.empty())
            fault.message += source.sacct.empty() ? " with --processors" : " with --slurm-conf or --processors";
        if (trace->skipped_lines > 0)
            fault.message += " (" + std::to_string(trace->skipped_lines) + " lines were skipped, the first at " +
                             trace->first_skipped->pointer + ": " + trace->first_skipped->message + ")";
        return fault;
    }
    loaded.parse_s = watch.lap();
    loaded.workload = std::move(cleaned->workload);
    cleaned->workload = {};
    loaded.cleaned = *std::move(cleaned);
    loaded.records = trace->records.size();
    loaded.trace = *std::move(trace);
    loaded.name = loaded.workload.name;
    return loaded;
}

Result<LoadedWorkload> load_generated(const WorkloadSource& source) {
    std::string parameters;
    const Result<GeneratorRequest> request = request_of(source, parameters);
    if (!request) return request.error();
    Stopwatch watch;
    Result<Workload> made = generate(*request);
    if (!made) {
        Error fault = made.error();
        if (fault.pointer.empty()) fault.pointer = "--generate";
        return fault;
    }
    if (made->jobs.empty()) return invalid("a workload of 0 jobs cannot be simulated", "--generate");
    LoadedWorkload loaded;
    loaded.parse_s = watch.lap();
    loaded.workload = *std::move(made);
    loaded.name = source.generate;
    return loaded;
}

constexpr std::string_view kFlexibilityRules[] = {"rigid", "moldable", "malleable", "mix", "group"};

Result<void> make_flexible(const WorkloadSource& source, Workload& workload) {
    if (source.flexibility.empty()) return {};
    const auto rule = std::ranges::find(kFlexibilityRules, source.flexibility) - std::begin(kFlexibilityRules);
    Result<void> done = set_flexibility(workload, static_cast<FlexibilityRule>(rule), source.seed);
    if (!done) return invalid(done.error().message, "--flexibility group");
    return done;
}

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

Result<void> check_source(const WorkloadSource& source) {
    const int sources = !source.trace.empty() + !source.sacct.empty() + !source.generate.empty();
    const bool log = source.generate.empty();
    if (sources != 1)
        return sources > 1 ? invalid("the jobs come from one of --trace, --from-sacct and --generate, not from several")
                           : invalid(
                                 "where do the jobs come from? give --trace FILE, --from-sacct FILE or --generate "
                                 "NAME; --list-generators names them");
    if (!source.slurm_conf.empty() && source.sacct.empty()) return invalid("goes with --from-sacct", "--slurm-conf");
    if (source.processors < 0) return invalid("must be 1 or more", "--processors");
    if (log && !source.parameters.empty()) return invalid("goes with --generate jann, not with a log", "--params");
    if (log) return {};
    for (const auto& [given, option] :
         {std::pair{source.lenient, "--lenient"}, std::pair{!source.refuse.empty(), "--refuse"},
          std::pair{!source.drop.empty(), "--drop"}, std::pair{!source.size.empty(), "--size"},
          std::pair{!source.estimates.empty(), "--estimates"},
          std::pair{!source.zero_runtime.empty(), "--zero-runtime"}, std::pair{source.shift, "--shift"},
          std::pair{source.renumber, "--renumber"}})
        if (given) return invalid("says how a log is cleaned, and goes with --trace or --from-sacct only", option);
    return {};
}

Result<formats::SwfCleaning> cleaning_of(const WorkloadSource& source) {
    using Action = formats::SwfCleaning::Action;
    formats::SwfCleaning rules;
    rules.processors = source.processors;
    rules.allocated_size = source.size == "allocated";
    using Past = formats::SwfCleaning::PastEstimate;
    rules.past_estimate = source.estimates == "raise"     ? Past::kRaised
                          : source.estimates == "overrun" ? Past::kRunsOn
                                                          : Past::kKilled;
    rules.exact_estimates = source.estimates == "exact";
    rules.shift_to_zero = source.shift;
    rules.renumber = source.renumber;
    rules.zero_runtime_counts = source.zero_runtime == "second";
    if (source.lenient) rules.repeated_id = rules.impossible = Action::kDrop;
    static constexpr std::string_view kRefused[] = {"no-size",   "oversized", "no-runtime", "no-submit",
                                                    "duplicate", "unsorted",  "all"};
    for (const std::string& kind : source.refuse) {
        if (std::ranges::find(kRefused, kind) == std::end(kRefused))
            return invalid("there is no kind of jobs '" + kind + "'" + did_you_mean(kind, kRefused), "--refuse");
        const bool all = kind == "all";
        if (all || kind == "no-size") rules.no_size = Action::kRefuse;
        if (all || kind == "oversized") rules.oversized = Action::kRefuse;
        if (all || kind == "no-runtime") rules.no_runtime = Action::kRefuse;
        if (all || kind == "no-submit") rules.no_submit = Action::kRefuse;
        if (all || kind == "unsorted") rules.out_of_order = false;
        if (all || kind == "duplicate") {
            if (source.lenient) return invalid("refuses duplicate jobs, but --lenient drops them", "--refuse " + kind);
            if (source.renumber && !all)
                return invalid("refuses duplicate jobs, but --renumber leaves none", "--refuse " + kind);
            rules.repeated_id = Action::kRefuse;
        }
    }
    static constexpr std::string_view kDropped[] = {"cancelled", "failed", "duplicate"};
    for (const std::string& kind : source.drop) {
        if (std::ranges::find(kDropped, kind) == std::end(kDropped))
            return invalid("there is no kind of jobs '" + kind + "'" + did_you_mean(kind, kDropped), "--drop");
        if (kind == "cancelled") rules.drop_cancelled = true;
        if (kind == "failed") rules.drop_failed = true;
        if (kind == "duplicate") {
            if (source.renumber) return invalid("drops duplicate jobs, but --renumber leaves none", "--drop duplicate");
            for (const std::string& refused : source.refuse)
                if (refused == "duplicate" || refused == "all")
                    return invalid("drops duplicate jobs, but --refuse " + refused + " refuses them",
                                   "--drop duplicate");
            rules.repeated_id = Action::kDrop;
        }
    }
    return rules;
}

Result<GeneratorRequest> request_of(const WorkloadSource& source, std::string& parameters) {
    Result<NamedOptions> named = parse_named_options(source.generate, ',', "--generate");
    if (!named) return named.error();
    GeneratorRequest request{.name = named->name, .options = std::move(named->options), .seed = source.seed};
    if (source.processors > 0) {
        for (const auto& [name, value] : request.options)
            if (name == "processors") return invalid("is given here and as an option of --generate", "--processors");
        request.options.emplace_back("processors", std::to_string(source.processors));
    }
    if (!source.parameters.empty()) {
        Result<std::string> text = read_all(source.parameters, kMaxParameterBytes);
        if (!text) return text.error();
        parameters = *std::move(text);
        if (parameters.empty()) return invalid("the parameter file is empty", source.parameters);
        request.parameters = parameters;
        request.parameters_source = source.parameters;
    }
    return request;
}

Result<std::pair<std::string, std::string>> parse_assignment(const std::string& text, const std::string& option) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        return invalid("'" + text + "' is no option; write NAME=VALUE", option);
    return std::pair{text.substr(0, equals), text.substr(equals + 1)};
}

Result<NamedOptions> parse_named_options(const std::string& text, char separator, const std::string& option) {
    NamedOptions named;
    const std::size_t colon = text.find(':');
    named.name = text.substr(0, colon);
    if (colon == std::string::npos) return named;
    const std::string options = text.substr(colon + 1);
    if (options.empty()) return named;
    for (const std::string_view part : split(options, separator)) {
        Result<std::pair<std::string, std::string>> assignment = parse_assignment(std::string(part), option);
        if (!assignment) return assignment.error();
        named.options.push_back(*std::move(assignment));
    }
    return named;
}

Result<LoadedWorkload> load_workload(const WorkloadSource& source) {
    if (Result<void> good = check_source(source); !good) return good.error();
    if (!source.flexibility.empty() &&
        std::ranges::find(kFlexibilityRules, source.flexibility) == std::end(kFlexibilityRules))
        return invalid("there is no '" + source.flexibility + "'" + did_you_mean(source.flexibility, kFlexibilityRules),
                       "--flexibility");
    Result<LoadedWorkload> loaded = source.generate.empty() ? load_log(source) : load_generated(source);
    if (!loaded) return loaded;
    if (Result<void> done = change_workload(source, *loaded); !done) return done.error();
    if (Result<void> done = make_flexible(source, loaded->workload); !done) return done.error();
    loaded->jobs = loaded->workload.jobs.size();
    return loaded;
}

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
