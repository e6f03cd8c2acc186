#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/formats/swf_cleaning.hpp"
#include "algorithms/model/workload.hpp"
#include "algorithms/policy/registry.hpp"
#include "algorithms/sim/workload_generators.hpp"
#include "client/cli/context.hpp"

// What `zbs simulate` can be given by name.
namespace zbs::cli {

/// Where the jobs come from, as the command line says it.
struct WorkloadSource {
    std::string trace;        ///< a log in the Standard Workload Format, plain or gzip
    std::string sacct;        ///< the same as sacct printed it
    std::string slurm_conf;   ///< with sacct: the machine; empty: not known
    std::string generate;     ///< NAME[:option=value,...]
    std::string parameters;   ///< file of generator jann
    std::string flexibility;  ///< rigid, moldable, malleable, mix or group; empty: as the log or the generator has it
    std::uint64_t seed = 1;
    std::int64_t processors = 0;  ///< of the machine; 0: as the log or the generator says
    bool lenient = false;
    std::vector<std::string> refuse;  ///< kinds of jobs that are an error
    std::vector<std::string> drop;    ///< kinds of jobs that are left out besides
    std::string size;                 ///< requested or allocated; empty: requested
    std::string estimates;            ///< kill, raise or exact; empty: kill
    std::string zero_runtime;         ///< drop or second; empty: drop
    bool shift = false;
    bool renumber = false;
    std::string where;                      ///< condition on jobs; empty: all
    std::optional<double> load;             ///< offered load, > 0; none: as the log or the generator has it
    std::optional<double> estimate_factor;  ///< > 0
};

struct LoadedWorkload {
    std::string name;  ///< for reports: the file's name, or the generator and its options
    Workload workload;
    /// Of a log only.
    std::optional<formats::SwfTrace> trace;
    formats::CleanedSwf cleaned;     ///< without its workload
    std::vector<std::string> notes;  ///< what a reader left out or assumed, and what was changed
    std::optional<Error> damage;     ///< where a lenient reader stopped unpacking
    double read_s = 0;               ///< wall time of reading and unpacking the file
    double parse_s = 0;              ///< of parsing and cleaning the text, or of generating
    std::size_t bytes = 0;           ///< of text
    std::size_t jobs = 0;            ///< of the workload
    std::size_t records = 0;         ///< of the log
};

class Stopwatch {
  public:
    /// Seconds since the last call, or since the beginning.
    double lap() {
        const auto now = std::chrono::steady_clock::now();
        return std::chrono::duration<double>(now - std::exchange(begin_, now)).count();
    }

  private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Refuses what does not go together.
Result<void> check_source(const WorkloadSource& source);
Result<formats::SwfCleaning> cleaning_of(const WorkloadSource& source);
/// The request has a view of `parameters`, which receives the parameter file.
Result<GeneratorRequest> request_of(const WorkloadSource& source, std::string& parameters);

/// Errors name the option, or the file and line.
Result<LoadedWorkload> load_workload(const WorkloadSource& source);

/// "NAME:a=1SEPARATORb=2" taken apart; `option` is where it came from, for errors.
struct NamedOptions {
    std::string name;
    PolicyOptions options;
};
Result<NamedOptions> parse_named_options(const std::string& text, char separator, const std::string& option);
/// "a=1".
Result<std::pair<std::string, std::string>> parse_assignment(const std::string& text, const std::string& option);

/// Every policy, allocator and packing rule: one line and its source.
void list_all(Context& context);
/// With their options.
void list_policies(Context& context);
void list_allocators(Context& context);
void list_generators(Context& context);

}  // namespace zbs::cli
