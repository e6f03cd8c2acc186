#include "services/node_agent/step/step_options.hpp"

#include <charconv>
#include <map>

namespace zbs::step {
namespace {

constexpr const char* kUsage =
    "usage: zbs-step --operation ID --folder DIR [OPTIONS] -- PROGRAM ARGS...; the options are in its source";

const std::map<std::string, Namespaces> kNamespaces = {{"none", Namespaces::kNone},
                                                       {"mount", Namespaces::kMount},
                                                       {"processes", Namespaces::kProcesses},
                                                       {"user", Namespaces::kUser}};

template <class Number>
bool read_number(const std::string& text, Number& number) {
    const char* end = text.data() + text.size();
    const auto [stop, fault] = std::from_chars(text.data(), end, number);
    return fault == std::errc{} && stop == end && !text.empty() && text[0] != '-';
}

}  // namespace

Result<StepOptions> read_step_options(int argc, const char* const* argv) {
    StepOptions options;
    const std::map<std::string, std::string*> texts = {
        {"--folder", &options.folder}, {"--directory", &options.directory}, {"--account", &options.account}};
    const std::map<std::string, std::vector<std::string>*> lists = {{"--hide", &options.hidden},
                                                                    {"--read-only", &options.read_only},
                                                                    {"--share", &options.shared},
                                                                    {"--on-stop", &options.on_stop}};
    int i = 1;
    for (; i < argc && std::string(argv[i]) != "--"; i += 2) {
        const std::string word = argv[i];
        if (i + 1 >= argc) return invalid("option " + word + " needs a value");
        const std::string value = argv[i + 1];
        bool good = true;
        if (const auto text = texts.find(word); text != texts.end()) {
            *text->second = value;
        } else if (word == "--operation") {
            options.step_id = StepId(value);
        } else if (const auto list = lists.find(word); list != lists.end()) {
            list->second->push_back(value);
        } else if (word == "--walltime-s") {
            good = read_number(value, options.walltime_s);
        } else if (word == "--grace-ms") {
            good = read_number(value, options.grace_ms);
        } else if (word == "--launcher") {
            options.is_launcher = value == "yes";
        } else if (word == "--proxies") {
            good = read_number(value, options.proxies);
        } else if (word == "--folder-bytes") {
            good = read_number(value, options.folder_bytes);
        } else if (word == "--minimum-uid") {
            good = read_number(value, options.minimum_uid);
        } else if (word == "--max-open-files") {
            good = read_number(value, options.max_open_files);
        } else if (word == "--max-processes") {
            good = read_number(value, options.max_processes);
        } else if (word == "--failpoints") {
            auto armings = failpoint::parse(value, failpoint::Program::kStep);
            if (!armings) return armings.error();
            options.failpoints = *std::move(armings);
        } else if (word == "--probe") {
            options.probe = value == "yes";
        } else if (word == "--namespaces") {
            const auto known = kNamespaces.find(value);
            good = known != kNamespaces.end();
            if (good) options.namespaces = known->second;
        } else {
            return invalid("unknown option " + word);
        }
        if (!good) return invalid("'" + value + "' is no value for option " + word);
    }
    for (++i; i < argc; ++i) options.argv.emplace_back(argv[i]);
    if (!options.probe && (options.step_id.empty() || options.folder.empty() || options.argv.empty()))
        return invalid(kUsage);
    if (!options.account.empty() && options.namespaces == Namespaces::kUser)
        return invalid("an account and a user namespace exclude each other");
    return options;
}

}  // namespace zbs::step
