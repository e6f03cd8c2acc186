#include "client/cli/submission/job_environment.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "algorithms/base/utf8.hpp"
#include "services/common/messages/steps/job_limits.hpp"
#include "services/common/messages/text/printable.hpp"

namespace zbs::cli {
namespace {

constexpr std::array<std::string_view, 15> kPassed = {"PATH",
                                                      "LANG",
                                                      "LANGUAGE",
                                                      "TZ",
                                                      "TERM",
                                                      "PYTHONPATH",
                                                      "LD_PRELOAD",
                                                      "LD_LIBRARY_PATH",
                                                      "LD_BIND_NOW",
                                                      "GFORTRAN_UNBUFFERED_ALL",
                                                      "MALLOC_ARENA_MAX",
                                                      "NCPUS",
                                                      "LOADEDMODULES",
                                                      "MODULEPATH",
                                                      "CUDA_VISIBLE_DEVICES"};
constexpr std::array<std::string_view, 19> kPassedPrefixes = {
    "LC_",    "OMP_",  "GOMP_", "KMP_", "MKL_",   "BLIS_", "OPENBLAS_", "FFTW_",     "MPICH_", "MPIR_",
    "I_MPI_", "OMPI_", "UCX_",  "FI_",  "HWLOC_", "NCCL_", "KOKKOS_",   "GFORTRAN_", "PSM"};
// Not even on request of '--env-all': they describe the account, the session or the terminal of this command, and lead
// nowhere on other machines. Each zone sets those of its own account.
constexpr std::array<std::string_view, 29> kHere = {"HOME",
                                                    "USER",
                                                    "LOGNAME",
                                                    "SHELL",
                                                    "MAIL",
                                                    "HOSTNAME",
                                                    "TMPDIR",
                                                    "TEMP",
                                                    "TMP",
                                                    "TEMPDIR",
                                                    "OLDPWD",
                                                    "TMUX",
                                                    "TMUX_PANE",
                                                    "STY",
                                                    "WINDOW",
                                                    "WINDOWID",
                                                    "DISPLAY",
                                                    "XAUTHORITY",
                                                    "XAUTHLOCALHOSTNAME",
                                                    "ICEAUTHORITY",
                                                    "SESSION_MANAGER",
                                                    "DESKTOP_SESSION",
                                                    "GPG_AGENT_INFO",
                                                    "GPG_TTY",
                                                    "INVOCATION_ID",
                                                    "JOURNAL_STREAM",
                                                    "NOTIFY_SOCKET",
                                                    "COLORTERM",
                                                    "CREDENTIALS_DIRECTORY"};
constexpr std::array<std::string_view, 13> kHerePrefixes = {"XDG_",    "DBUS_",  "SSH_",   "KRB5", "WAYLAND_",
                                                            "TERM_",   "GNOME_", "KDE_",   "GTK_", "VTE_",
                                                            "VSCODE_", "SUDO_",  "LISTEN_"};

template <std::size_t names, std::size_t prefixes>
bool is_among(const std::string& name, const std::array<std::string_view, names>& exact,
              const std::array<std::string_view, prefixes>& beginnings) {
    return std::find(exact.begin(), exact.end(), name) != exact.end() ||
           std::any_of(beginnings.begin(), beginnings.end(),
                       [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// LD_PRELOAD without our profiler, which writes into the folder of the job that it was loaded for.
std::string without_profiler(const std::string& preload) {
    std::string kept;
    for (std::size_t at = 0; at < preload.size();) {
        const std::size_t end = std::min(preload.find_first_of(" :", at), preload.size());
        const std::string entry = preload.substr(at, end - at);
        if (!entry.empty() && std::filesystem::path(entry).filename() != "libzbs-profile.so")
            kept += (kept.empty() ? "" : ":") + entry;
        at = end + 1;
    }
    return kept;
}

}  // namespace

bool is_passed_on(const std::string& name) {
    return is_among(name, kPassed, kPassedPrefixes) && !is_set_by_zones(name);
}

Result<std::map<std::string, std::string>> job_environment(const std::vector<std::string>& own,
                                                           const std::vector<std::string>& exports, bool all,
                                                           std::vector<std::string>& left_out) {
    std::map<std::string, std::string> mine, environment;
    for (const std::string& text : own) {
        const std::size_t equals = text.find('=');
        if (equals == 0 || equals == std::string::npos) continue;
        const std::string name = text.substr(0, equals);
        mine[name] = text.substr(equals + 1);
        if (is_set_by_zones(name) || is_among(name, kHere, kHerePrefixes) || is_set_by_shells(name) ||
            !(all || is_passed_on(name)))
            continue;
        if (!is_utf8(text) || !environment_name_fault(name).empty()) {
            left_out.push_back(name);
            continue;
        }
        const std::string value = name == "LD_PRELOAD" ? without_profiler(mine[name]) : mine[name];
        if (name != "LD_PRELOAD" || !value.empty()) environment[name] = value;
    }
    for (const std::string& item : exports) {
        const std::size_t equals = item.find('=');
        if (equals == 0 || item.empty()) return invalid("'" + item + "' must be NAME or NAME=VALUE", "--env");
        if (!is_utf8(item)) return invalid("'" + printable_text(item, 64) + "' is not UTF-8", "--env");
        if (const std::string fault = environment_name_fault(item.substr(0, equals)); !fault.empty())
            return invalid("'" + item.substr(0, equals) + "' " + fault, "--env");
        if (equals != std::string::npos) {
            environment[item.substr(0, equals)] = item.substr(equals + 1);
            continue;
        }
        const auto at = mine.find(item);
        if (at == mine.end()) return invalid("'" + item + "' is not set here; write " + item + "=VALUE", "--env");
        if (!is_utf8(at->second)) return invalid("the value of '" + item + "' is not UTF-8", "--env");
        environment[item] = at->second;
    }
    return environment;
}

}  // namespace zbs::cli
