#pragma once
#include <fstream>
#include <sstream>
#include <string>

namespace zbs::slurm {

/// What a real Slurm printed, see recorded/README.md.
inline std::string recorded(const std::string& name) {
    std::ifstream file(ZBS_SOURCE_DIR "/tests/unit/slurm/recorded/" + name);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

}  // namespace zbs::slurm
