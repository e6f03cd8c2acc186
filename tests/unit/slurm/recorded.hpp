#pragma once
#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/source_folder.hpp"

namespace zbs::slurm {

/// What a real Slurm printed, see recorded/README.md.
inline std::string recorded(const std::string& name) {
    std::ifstream file(zbs::test::source_folder() + "/tests/unit/slurm/recorded/" + name);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

}  // namespace zbs::slurm
