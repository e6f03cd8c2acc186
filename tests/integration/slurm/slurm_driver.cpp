// Drives the adapter of Slurm for slurm_test.py: one question and one answer a line, until the end of its input.
//
//   slurm_driver --steps FOLDER --supervisor ZBS_STEP [--folder COMMANDS] [--configuration FILE] [--deadline-ms N]
//
// A question is words between tabs, the answer JSON: {"error": WORD, "message": TEXT} or the value. Times are Unix
// seconds.
//   site | look OPERATION USER | keep OPERATION USER | release OPERATION USER gently|at_once
//   hold OPERATION NAME=VALUE... (fields of HoldSpec; durations and times in seconds, shares as "n1:4,n2:2")
//   start STEP OPERATION USER PLACES(a,b) WALLTIME_S ENVIRONMENT(A=1;B=2) -- PROGRAM ARGUMENTS...
//   step STEP OPERATION USER | stop STEP GRACE_MS | read STEP FILE | signal STEP NUMBER

#include <signal.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "services/common/adapters/process/process_tree.hpp"
#include "services/common/adapters/process/step_executor.hpp"
#include "services/zone_scheduler/adapters/slurm/launch.hpp"
#include "services/zone_scheduler/adapters/slurm/slurm_back_end.hpp"

namespace {
using namespace zbs;
using namespace zbs::slurm;
using Json = nlohmann::json;

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> words;
    std::istringstream in(text);
    for (std::string word; std::getline(in, word, separator);) words.push_back(word);
    return words;
}

Json json_of(const Error& error) { return {{"error", to_string(error.code)}, {"message", error.message}}; }

Json json_of(const std::optional<Time>& time) {
    return time ? Json(to_microseconds(*time) / 1'000'000) : Json(nullptr);
}

Json json_of(const Allocation& allocation) {
    constexpr std::array kPhases = {"waiting", "running", "ending", "ended"};
    constexpr std::array kStrengths = {"queued", "reservation", "placeholder"};
    Json nodes = Json::object();
    for (const NodeShare& share : allocation.nodes) nodes[share.node] = share.processors;
    return {{"operation", allocation.operation},
            {"job", allocation.job},
            {"phase", kPhases[static_cast<std::size_t>(allocation.phase)]},
            {"strength", kStrengths[static_cast<std::size_t>(allocation.strength)]},
            {"state", allocation.state},
            {"reason", allocation.reason},
            {"user", allocation.user},
            {"partition", allocation.partition},
            {"kept", allocation.kept},
            {"start", json_of(allocation.start)},
            {"end", json_of(allocation.end)},
            {"nodes", nodes}};
}

Json json_of(const Site& site) {
    Json partitions = Json::array(), nodes = Json::array();
    for (const Partition& p : site.partitions)
        partitions.push_back({{"name", p.name},
                              {"default", p.is_default},
                              {"fault", p.fault},
                              {"max_walltime_s", p.max_walltime ? Json(to_seconds(*p.max_walltime)) : Json(nullptr)},
                              {"max_nodes", p.max_nodes ? Json(*p.max_nodes) : Json(nullptr)},
                              {"nodes", p.nodes}});
    for (const Node& n : site.nodes)
        nodes.push_back({{"name", n.name}, {"processors", n.processors}, {"fault", n.fault}});
    return {{"cluster", site.settings.name},
            {"kill_wait_s", to_seconds(site.settings.kill_wait)},
            {"remembers_s", to_seconds(site.settings.remembers)},
            {"version", {site.version.major, site.version.minor}},
            {"partitions", partitions},
            {"nodes", nodes}};
}

HoldSpec read_hold(const std::vector<std::string>& words) {
    HoldSpec spec{.operation = words.at(1)};
    for (std::size_t i = 2; i < words.size(); ++i) {
        const std::string name = words[i].substr(0, words[i].find('=')), value = words[i].substr(name.size() + 1);
        const auto seconds = [&] { return seconds_to_duration(std::strtod(value.c_str(), nullptr)); };
        if (name == "partition") spec.partition = value;
        if (name == "account") spec.account = value;
        if (name == "user") spec.user = AccountName(value);
        if (name == "processors") spec.processors = std::atoi(value.c_str());
        if (name == "nodes") spec.nodes = std::atoi(value.c_str());
        if (name == "shares")
            for (const std::string& share : split(value, ','))
                spec.shares.push_back(
                    {share.substr(0, share.find(':')), std::atoi(share.c_str() + share.find(':') + 1)});
        if (name == "walltime") spec.walltime = seconds();
        if (name == "expiry") spec.expiry = seconds();
        if (name == "start") spec.start = Time{} + seconds();
        if (name == "wait") spec.wait = seconds();
    }
    return spec;
}

/// The operation at `at` and the user behind it.
HoldKey key_of(const std::vector<std::string>& words, std::size_t at) {
    return {words.at(at), AccountName(words.at(at + 1))};
}

class Driver {
  public:
    Driver(SlurmBackEnd back_end, Executor& executor) : back_end_(std::move(back_end)), executor_(executor) {}

    Json answer(const std::vector<std::string>& words) {
        const std::string& verb = words.at(0);
        if (verb == "site") return answer_of(back_end_.read_site());
        if (verb == "hold") return answer_of(back_end_.hold(read_hold(words)));
        if (verb == "look") return look(key_of(words, 1));
        if (verb == "keep") return answer_of(back_end_.keep(key_of(words, 1)));
        if (verb == "release") return release(words);
        if (verb == "start") return start(words);
        if (verb == "step") return step(words);
        if (verb == "stop") {
            executor_.stop(StepId(words.at(1)), std::chrono::milliseconds{std::atoi(words.at(2).c_str())});
            return Json::object();
        }
        if (verb == "read") {
            const Result<std::string> text = executor_.read(StepId(words.at(1)), words.at(2), 0, 1 << 20);
            return text ? Json(*text) : json_of(text.error());
        }
        if (verb == "signal") return signal_step(words);
        return {{"error", "question"}};
    }

  private:
    template <class T>
    static Json answer_of(const Result<T>& result) {
        return result ? json_of(*result) : json_of(result.error());
    }
    static Json answer_of(const Result<void>& result) { return result ? Json::object() : json_of(result.error()); }

    Json look(const HoldKey& key) {
        const Result<std::optional<Allocation>> found = back_end_.find(key);
        if (!found) return json_of(found.error());
        const Result<std::vector<Allocation>> many = back_end_.look({{"no-such-one", key.user}, key});
        if (!many) return json_of(many.error());
        if (many->empty()) return nullptr;
        return *found ? json_of(**found) : Json(nullptr);
    }

    Json release(const std::vector<std::string>& words) {
        const Result<bool> done =
            back_end_.release(key_of(words, 1), words.at(3) == "gently" ? SlurmBackEnd::ReleaseMode::kGently
                                                                        : SlurmBackEnd::ReleaseMode::kAtOnce);
        return done ? Json(*done) : json_of(done.error());
    }

    Json start(const std::vector<std::string>& words) {
        const Result<std::optional<Allocation>> found = back_end_.find(key_of(words, 2));
        if (!found) return json_of(found.error());
        if (!*found) return json_of(Error{ErrorCode::kNotFound, "no hold", {}});
        LaunchSpec spec{.step_id = StepId(words.at(1)),
                        .argv = {words.begin() + 8, words.end()},
                        .places = split(words.at(4), ','),
                        .walltime = std::chrono::seconds{std::atoi(words.at(5).c_str())}};
        for (const std::string& pair : split(words.at(6), ';'))
            spec.environment.emplace_back(pair.substr(0, pair.find('=')), pair.substr(pair.find('=') + 1));
        const Result<StepSpec> step = make_step(back_end_.commands(), **found, spec);
        if (!step) return json_of(step.error());
        return answer_of(executor_.start(*step));
    }

    Json step(const std::vector<std::string>& words) {
        std::optional<StepStatus> status = executor_.status(StepId(words.at(1)));
        if (status->state == StepStatus::State::kExited) {
            const Result<std::optional<Allocation>> found = back_end_.find(key_of(words, 2));
            if (!found) return json_of(found.error());
            if (*found) status = judge_end(*status, **found);
        }
        if (!status) return {{"exited", false}};
        return {{"exited", status->state == StepStatus::State::kExited},
                {"exit_code", status->exit_code},
                {"reason", status->reason}};
    }

    /// To all of a step on this host: srun.
    Json signal_step(const std::vector<std::string>& words) {
        int count = 0;
        for (const process::ProcessRef& process : process::find_marked(process::step_variable(StepId(words.at(1))), 0))
            count += process::send_signal(process, std::atoi(words.at(2).c_str()));
        return count;
    }

    SlurmBackEnd back_end_;
    Executor& executor_;
};

}  // namespace

int main(int argc, char** argv) {
    std::map<std::string, std::string> options;
    for (int i = 1; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
    CommandSettings settings{.configuration = options["--configuration"]};
    if (!options["--folder"].empty()) settings.folders = {options["--folder"]};
    if (!options["--deadline-ms"].empty())
        settings.deadline = std::chrono::milliseconds{std::atoi(options["--deadline-ms"].c_str())};
    // Ignores its children from here on, as a zone with this executor does.
    auto executor = process::make_step_executor({.folder = options["--steps"], .supervisor = options["--supervisor"]});
    if (!executor) {
        std::cout << json_of(executor.error()) << std::endl;
        return 3;
    }
    Result<SlurmCommands> commands = SlurmCommands::find(settings);
    if (!commands) {
        std::cout << json_of(commands.error()) << std::endl;
        return 3;
    }
    std::cout << Json("ready") << std::endl;
    Driver driver(SlurmBackEnd(*std::move(commands), {}), **executor);
    for (std::string line; std::getline(std::cin, line);) std::cout << driver.answer(split(line, '\t')) << std::endl;
    return 0;
}
