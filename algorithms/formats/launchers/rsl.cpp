#include "algorithms/formats/launchers/rsl.hpp"

#include <chrono>
#include <cstdint>
#include <set>
#include <string_view>

namespace zbs::formats {
namespace {

constexpr std::string_view kIndexName = "GLOBUS_DUROC_SUBJOB_INDEX", kLanName = "GLOBUS_LAN_ID";

/// Linux gives one string of the environment at most 128 KiB, with its name.
constexpr std::size_t kMaxEnvironmentBytes = 128 * 1024 - 64;

/// Appends relations; keeps the first fault and where it was.
class SubjobWriter {
  public:
    SubjobWriter(std::string& out, std::string at) : out_(out), at_(std::move(at)) {}

    void fail(std::string message, const std::string& field) {
        if (ok_) result_ = invalid(std::move(message), at_ + field);
        ok_ = false;
    }
    void text(std::string_view name, const std::string& value, const std::string& field) {
        begin(name);
        quoted(value, field);
        out_ += ')';
    }
    void raw(std::string_view name, const std::string& value) {
        begin(name);
        out_ += value;
        out_ += ')';
    }
    void begin(std::string_view name) {
        out_ += '(';
        out_ += name;
        out_ += '=';
    }
    void quoted(const std::string& value, const std::string& field) {
        Result<std::string> made = rsl_quoted(value);
        if (!made) return fail(made.error().message, field);
        out_ += *made;
    }
    Result<void> result() const { return result_; }

  private:
    std::string& out_;
    std::string at_;
    Result<void> result_;
    bool ok_ = true;
};

std::int64_t minutes_up(Duration walltime) {
    using Minutes = std::chrono::duration<std::int64_t, std::ratio<60>>;
    return std::chrono::ceil<Minutes>(walltime).count();
}

Result<void> write_subjob(const RslSubjob& job, std::size_t index, std::string& out) {
    SubjobWriter write(out, "/subjobs/" + std::to_string(index));
    if (job.contact.empty()) write.fail("a subjob needs a resource manager contact", "/contact");
    if (job.label.empty()) write.fail("a subjob needs a label", "/label");
    if (job.executable.empty()) write.fail("a subjob needs an executable", "/executable");
    if (job.count < 1) write.fail("a subjob needs at least one process", "/count");
    if (job.host_count < 0 || job.host_count > job.count)
        write.fail("hosts must be 1..count, or 0 for any", "/host_count");
    if (job.walltime < Duration::zero()) write.fail("the walltime must not be negative", "/walltime");
    if (job.lan_id.find_first_of(" \t\n\v\f") != std::string::npos)
        write.fail("the LAN id '" + job.lan_id + "' holds white space", "/lan_id");

    out += "( &";
    write.text("resourceManagerContact", job.contact, "/contact");
    out += "\n   ";
    write.text("label", job.label, "/label");
    write.raw("count", std::to_string(job.count));
    if (job.host_count > 0) write.raw("hostCount", std::to_string(job.host_count));
    write.raw("jobType", "mpi");
    out += "\n   ";
    write.raw("subjobStartType", "strict-barrier");
    write.raw("subjobCommsType", "blocking-join");
    out += "\n   ";
    write.begin("environment");
    out += '(' + std::string(kIndexName) + ' ' + std::to_string(index) + ')';
    if (!job.lan_id.empty()) {
        out += '(' + std::string(kLanName) + ' ';
        write.quoted(job.lan_id, "/lan_id");
        out += ')';
    }
    std::set<std::string_view> names = {kIndexName, kLanName};
    for (std::size_t i = 0; i < job.environment.size(); ++i) {
        const auto& [name, value] = job.environment[i];
        const std::string field = "/environment/" + std::to_string(i);
        if (name.empty() || name.find('=') != std::string::npos)
            write.fail("an environment name is not empty and holds no '='", field);
        if (!names.insert(name).second) write.fail("environment variable " + name + " is given twice", field);
        out += '(';
        write.quoted(name, field);
        out += ' ';
        write.quoted(value, field);
        out += ')';
    }
    out += ")\n   ";
    if (!job.directory.empty()) write.text("directory", job.directory, "/directory");
    write.text("executable", job.executable, "/executable");
    if (!job.arguments.empty()) {  // an empty value list is an error in RSL
        out += "\n   ";
        write.begin("arguments");
        for (std::size_t i = 0; i < job.arguments.size(); ++i) {
            if (i > 0) out += ' ';
            write.quoted(job.arguments[i], "/arguments/" + std::to_string(i));
        }
        out += ')';
    }
    if (job.walltime > Duration::zero()) write.raw("maxWallTime", std::to_string(minutes_up(job.walltime)));
    out += " )\n";
    return write.result();
}

}  // namespace

Result<std::string> rsl_quoted(const std::string& text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '\0') return invalid("RSL cannot hold a NUL byte");
        if (c == '\r') return invalid("RSL cannot hold a carriage return");
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted += '"';
}

Result<std::string> write_rsl(const RslRequest& request) {
    if (request.subjobs.empty()) return invalid("a request needs at least one subjob", "/subjobs");
    std::string out = "+\n";
    std::set<std::string_view> labels;
    for (std::size_t i = 0; i < request.subjobs.size(); ++i) {
        if (!labels.insert(request.subjobs[i].label).second) {
            return invalid("label \"" + request.subjobs[i].label + "\" is given twice",
                           "/subjobs/" + std::to_string(i) + "/label");
        }
        if (Result<void> written = write_subjob(request.subjobs[i], i, out); !written) return written.error();
    }
    return out;
}

Result<std::string> write_launch_rsl(const LaunchRequest& request) {
    if (auto ok = check_zones(request); !ok) return ok.error();
    if (auto ok = check_program(request); !ok) return ok.error();
    const bool renumbered = is_renumbered(request);
    RslRequest rsl;
    for (const LaunchZone& zone : request.zones) {
        const auto hosts = ranks_by_host(zone);
        RslSubjob subjob{.contact = zone.contact.empty() ? zone.name : zone.contact,
                         .label = "subjob " + std::to_string(rsl.subjobs.size()),
                         .count = static_cast<int>(zone.ranks.size()),
                         .host_count = is_even(hosts) ? static_cast<int>(hosts.size()) : 0,
                         .lan_id = zone.name,
                         .directory = request.directory,
                         .executable = request.executable,
                         .arguments = request.arguments,
                         .environment = request.environment,
                         .walltime = request.walltime};
        if (renumbered) {
            std::string list = rank_list(zone);
            if (list.size() > kMaxEnvironmentBytes)
                return Error{ErrorCode::kTooLarge,
                             "the rank numbers of zone '" + zone.name +
                                 "' are too scattered for an environment variable (" + std::to_string(list.size()) +
                                 " bytes); use another format, or a mapping with consecutive ranks per zone",
                             "/zones/" + std::to_string(rsl.subjobs.size()) + "/ranks"};
            subjob.environment.emplace_back("ZBS_RANKS", std::move(list));
        }
        rsl.subjobs.push_back(std::move(subjob));
    }
    return write_rsl(rsl);
}

}  // namespace zbs::formats
