#include "client/cli/simulation/workload_stream.hpp"

#include <filesystem>
#include <utility>

#include "client/cli/input.hpp"

namespace zbs::cli {
namespace {

/// A log in the order of submission and of job numbers.
class LogStream final : public WorkloadStream {
  public:
    LogStream(const WorkloadSource& source, const formats::SwfCleaning& rules, std::unique_ptr<Input> input)
        : path_(source.trace), rules_(rules), input_(std::move(input)), reader_(path_, {.lenient = source.lenient}) {
        std::error_code ignored;
        file_bytes_ = std::filesystem::file_size(path_, ignored);
    }

    Result<void> begin() {
        while (!is_read_ && records().empty())
            if (Result<void> done = read_piece(); !done) return done;
        const Result<std::int32_t> processors = formats::machine_size(reader_.trace(), path_, rules_);
        if (!processors) return processors.error();
        cleaner_.emplace(path_, rules_, *processors);
        found_.workload.name = path_.substr(path_.find_last_of('/') + 1);
        found_.workload.processors = *processors;
        found_.name = found_.workload.name;
        return {};
    }

    const LoadedWorkload& found() const override { return found_; }

    std::size_t expected_jobs() const override {
        const std::size_t taken = input_->bytes_taken();
        if (taken == 0 || taken >= file_bytes_) return found_.jobs;
        return static_cast<std::size_t>(static_cast<double>(found_.jobs) * static_cast<double>(file_bytes_) /
                                        static_cast<double>(taken));
    }

    Result<void> run(const AddJob& add) override {
        for (;;) {
            watch_.lap();
            if (Result<void> done = clean(); !done) return done;
            found_.parse_s += watch_.lap();
            for (const WorkloadJob& entry : jobs_)
                if (Result<void> done = add(entry); !done) return done;
            if (is_read_) return {};
            if (Result<void> done = read_piece(); !done) return done;
        }
    }

    Result<LoadedWorkload> finish() override {
        const Result<std::int32_t> processors = formats::machine_size(reader_.trace(), path_, rules_);
        if (!processors || *processors != found_.workload.processors)
            return invalid("the size of the machine stands behind the first job", path_);
        if (found_.jobs == 0) return invalid("no job of the log is left after cleaning", path_);
        found_.trace = std::move(reader_.trace());
        found_.cleaned = cleaner_->found();
        return std::move(found_);
    }

  private:
    std::vector<formats::SwfRecord>& records() { return reader_.trace().records; }

    Result<void> read_piece() {
        watch_.lap();
        const Result<std::string_view> piece = input_->next();
        if (!piece) return piece.error();
        is_read_ = piece->empty();
        text_.append(*piece);
        found_.bytes += piece->size();
        found_.read_s += watch_.lap();
        const Result<std::size_t> used = reader_.read(text_, is_read_);
        if (!used) return used.error();
        text_.erase(0, *used);
        if (text_.size() > formats::SwfTrace::kMaxLine) return invalid("a line is too long", path_);
        found_.parse_s += watch_.lap();
        return {};
    }

    /// The records of a piece become jobs.
    Result<void> clean() {
        jobs_.clear();
        for (const formats::SwfRecord& record : records()) {
            const Result<const WorkloadJob*> taken = cleaner_->take(record);
            if (!taken) return taken.error();
            if (*taken == nullptr) continue;
            const Job& job = (*taken)->job;
            if (found_.jobs == 0 && rules_.shift_to_zero) origin_ = job.submit.time_since_epoch();
            if (found_.jobs++ > 0 && (job.submit < last_.submit || job.id <= last_.id))
                return invalid(
                    "jobs are not in the order of their submit times and numbers, so that the log has to be "
                    "in memory as a whole",
                    path_ + ":" + std::to_string(record.line));
            last_ = job;
            jobs_.push_back(**taken);
            jobs_.back().job.submit -= origin_;
        }
        found_.records += records().size();
        records().clear();
        return {};
    }

    const std::string path_;
    const formats::SwfCleaning rules_;
    const std::unique_ptr<Input> input_;
    std::size_t file_bytes_ = 0;
    formats::SwfReader reader_;
    std::optional<formats::SwfCleaner> cleaner_;
    std::string text_;  ///< that was not parsed yet
    bool is_read_ = false;
    std::vector<WorkloadJob> jobs_;  ///< of one piece
    Job last_;
    Duration origin_{};
    LoadedWorkload found_;
    Stopwatch watch_;
};

/// The jobs of a model, without priorities or other sizes than they ask for.
class ModelStream final : public WorkloadStream {
  public:
    Result<void> begin(const WorkloadSource& source) {
        Result<GeneratorRequest> request = request_of(source, parameters_);
        if (!request) return request.error();
        request_ = *std::move(request);
        const Result<GeneratorOptions> common = common_options(request_);
        if (!common) return common.error();
        expected_ = static_cast<std::size_t>(common->jobs);
        found_.name = source.generate;
        found_.workload.name = request_.name;
        found_.workload.processors = common->processors;
        return {};
    }

    const LoadedWorkload& found() const override { return found_; }
    std::size_t expected_jobs() const override { return expected_; }

    Result<void> run(const AddJob& add) override {
        watch_.lap();
        Result<void> done = generate(request_, [&](const WorkloadJob& entry) -> Result<void> {
            if (entry.job.priority != 0 || entry.job.flexibility != Flexibility::kRigid)
                return invalid("the workload has to be in memory as a whole");
            jobs_.push_back(entry);
            return jobs_.size() == kBatch ? pass_on(add) : Result<void>{};
        });
        return done ? pass_on(add) : done;
    }

    Result<LoadedWorkload> finish() override {
        if (found_.jobs == 0) return invalid("a workload of 0 jobs cannot be simulated", "--generate");
        return std::move(found_);
    }

  private:
    static constexpr std::size_t kBatch = 4096;  ///< so that time is measured of many jobs at once

    Result<void> pass_on(const AddJob& add) {
        found_.parse_s += watch_.lap();
        for (const WorkloadJob& entry : jobs_)
            if (Result<void> done = add(entry); !done) return done;
        found_.jobs += jobs_.size();
        jobs_.clear();
        watch_.lap();
        return {};
    }

    std::string parameters_;
    GeneratorRequest request_;
    std::size_t expected_ = 0;
    std::vector<WorkloadJob> jobs_;
    LoadedWorkload found_;
    Stopwatch watch_;
};

}  // namespace

Result<std::unique_ptr<WorkloadStream>> WorkloadStream::open(const WorkloadSource& source) {
    if (Result<void> good = check_source(source); !good) return good.error();
    std::error_code ignored;
    const bool is_changed =
        !source.where.empty() || source.load || source.estimate_factor || !source.flexibility.empty();
    const bool is_model = !source.generate.empty();
    if (is_changed || (!is_model && !std::filesystem::is_regular_file(source.trace, ignored)))
        return invalid("the workload has to be in memory as a whole");
    if (is_model) {
        auto stream = std::make_unique<ModelStream>();
        if (Result<void> done = stream->begin(source); !done) return done.error();
        return std::unique_ptr<WorkloadStream>(std::move(stream));
    }
    const Result<formats::SwfCleaning> rules = cleaning_of(source);
    if (!rules) return rules.error();
    Result<std::unique_ptr<Input>> input = Input::open(source.trace);
    if (!input) return input.error();
    auto stream = std::make_unique<LogStream>(source, *rules, *std::move(input));
    if (Result<void> done = stream->begin(); !done) return done.error();
    return std::unique_ptr<WorkloadStream>(std::move(stream));
}

}  // namespace zbs::cli
