// Stands for a zone in job_safety_test.py: holds a secret in its environment, its memory and an open file, runs one
// step and hands out what the step left. Prints one line per fact: "protection WORD TEXT", "refused TEXT", "exit CODE",
// "file NAME TEXT".
//
//   job_runner --state DIR --supervisor ZBS_STEP [--account A] [--default-account A] [--minimum-uid N]
//              [--root-jobs yes|no] [--require yes|no] [--shared-memory yes|no] [--unprotected yes] [--env
//              NAME=VALUE]... -- PROGRAM ARGS...

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <thread>

#include "services/common/adapters/process/step_executor.hpp"

namespace {
using namespace zbs;
using process::Isolation;

const StepId kJob = "job-1";
const StepId kNeighbour = "neighbour";

struct Request {
    std::map<std::string, std::string> options;
    StepSpec job{.step_id = kJob};
};

Request read_request(int argc, char** argv) {
    Request request;
    int i = 1;
    for (; i + 1 < argc && std::string(argv[i]) != "--"; i += 2) {
        const std::string value = argv[i + 1];
        if (std::string(argv[i]) == "--env")
            request.job.environment.emplace_back(value.substr(0, value.find('=')), value.substr(value.find('=') + 1));
        else
            request.options[argv[i]] = value;
    }
    for (++i; i < argc; ++i) request.job.argv.emplace_back(argv[i]);
    request.job.account = AccountName(request.options["--account"]);
    return request;
}

process::StepExecutorOptions executor_options(std::map<std::string, std::string>& options) {
    process::StepExecutorOptions made{.folder = options["--state"] + "/steps",
                                      .supervisor = options["--supervisor"],
                                      .hidden_paths = {options["--state"]},
                                      .default_account = AccountName(options["--default-account"]),
                                      .allow_root_jobs = options["--root-jobs"] != "no",
                                      .require_isolation = options["--require"] == "yes"};
    if (!options["--shared-memory"].empty()) made.shared_memory = options["--shared-memory"] == "yes";
    if (!options["--minimum-uid"].empty())
        made.minimum_uid = static_cast<uid_t>(std::atoi(options["--minimum-uid"].c_str()));
    return made;
}

int wait_for(Executor& executor, const StepId& step_id) {
    for (;;) {
        const StepStatus status = executor.status(step_id);
        if (status.state == StepStatus::State::kExited) return status.exit_code;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

/// The job as it would be without any of the protection.
int run_unprotected(const StepSpec& job) {
    signal(SIGCHLD, SIG_DFL);
    const pid_t child = fork();
    if (child == 0) {
        std::vector<std::string> texts;
        std::vector<char*> environment, argv;
        for (const auto& [name, value] : job.environment) texts.push_back(name + "=" + value);
        for (std::string& text : texts) environment.push_back(text.data());
        for (const std::string& word : job.argv) argv.push_back(const_cast<char*>(word.c_str()));
        environment.push_back(nullptr);
        argv.push_back(nullptr);
        execve(argv[0], argv.data(), environment.data());
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

void hand_out(Executor& executor) {
    std::vector<std::string> names = {"link", "chain", "fifo", "hard", "device", "leased", ".zbs-stdout", "../exit"};
    for (const Executor::File& file : executor.list(kJob, "")) names.push_back(file.name);
    for (const std::string& name : names) {
        const auto text = executor.read(kJob, name, 0, 1 << 20);
        std::cout << "file " << name << " " << (text ? *text : "(" + text.error().message + ")") << "\n";
    }
}

}  // namespace

int main(int argc, char** argv) {
    prctl(PR_SET_DUMPABLE, 0);  // as a zone does
    Request request = read_request(argc, argv);
    // On purpose without O_CLOEXEC: what a zone forgets to close must not reach a job.
    const int database = open((request.options["--state"] + "/zone.db").c_str(), O_RDONLY);
    auto executor = process::make_step_executor(executor_options(request.options));
    if (!executor) {
        std::cout << "refused " << executor.error().message << std::endl;
        return 3;
    }
    const process::Protection& protection = (*executor)->protection();
    const char* word = protection.isolation == Isolation::kAccounts    ? "accounts"
                       : protection.isolation == Isolation::kNamespace ? "namespace"
                                                                       : "none";
    std::cout << "protection " << word << " " << protection.text << std::endl;

    StepSpec neighbour{.step_id = kNeighbour,
                       .argv = {"/bin/sh", "-c", "echo $CANARY > secret; exec sleep 300"},
                       .environment = {{"CANARY", getenv("CANARY") == nullptr ? "" : getenv("CANARY")}},
                       .account = AccountName(request.options["--neighbour-account"])};
    if (auto started = (*executor)->start(neighbour); !started) {
        std::cout << "refused " << started.error().message << std::endl;
        return 3;
    }
    while (!(*executor)->read(kNeighbour, "secret", 0, 1).has_value() ||
           (*executor)->read(kNeighbour, "secret", 0, 1)->empty())
        std::this_thread::sleep_for(std::chrono::milliseconds(10));

    request.job.environment.emplace_back("ZONE_PID", std::to_string(getpid()));
    int code = 0;
    if (request.options["--unprotected"] == "yes") {
        code = run_unprotected(request.job);
    } else if (auto started = (*executor)->start(request.job); !started) {
        std::cout << "refused " << started.error().message << std::endl;
        code = -1;
    } else {
        code = wait_for(**executor, kJob);
        hand_out(**executor);
    }
    (*executor)->stop(kNeighbour, std::chrono::milliseconds(100));
    wait_for(**executor, kNeighbour);
    std::cout << "exit " << code << std::endl;
    close(database);
    return 0;
}
