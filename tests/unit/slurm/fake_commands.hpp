#pragma once
#include <gtest/gtest.h>

#include <fstream>
#include <initializer_list>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "services/zone_scheduler/adapters/slurm/slurm_commands.hpp"
#include "tests/support/temporary_folder.hpp"

namespace zbs::slurm {

/// Scripts in place of Slurm's commands, each with a record of how it was called. What Slurm itself does is tested by
/// tests/integration/slurm.
class FakeCommands {
  public:
    using Bodies = std::initializer_list<std::pair<const std::string, std::string>>;

    FakeCommands() : FakeCommands(Bodies{}) {}
    explicit FakeCommands(Bodies given) {
        const std::map<std::string, std::string> bodies(given);
        for (const char* name : {"sbatch", "scancel", "scontrol", "sinfo", "squeue", "srun"}) {
            const auto body = bodies.find(name);
            write(name, body == bodies.end() ? "exit 0" : body->second);
        }
        if (!bodies.contains("sinfo")) write("sinfo", "echo slurm-wlm 22.05.8");
    }

    void write(const std::string& name, const std::string& body) {
        const std::string path = folder_.path(name);
        std::ofstream(path) << "#!/bin/sh\necho " + name + " \"$@\" >> " + folder_.path("calls") + "\n" + body + "\n";
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    }
    CommandSettings settings(Duration deadline = std::chrono::seconds{20}) const {
        return {.folders = {folder_.path()}, .deadline = deadline};
    }
    SlurmCommands find(Duration deadline = std::chrono::seconds{20}) const {
        Result<SlurmCommands> commands = SlurmCommands::find(settings(deadline));
        EXPECT_TRUE(commands) << commands.error();
        return *std::move(commands);
    }
    std::string path(const std::string& name) const { return folder_.path(name); }
    /// Calls so far, one a line, without the question for the release.
    std::string calls() const {
        std::ifstream file(folder_.path("calls"));
        std::string text;
        for (std::string line; std::getline(file, line);)
            if (line != "sinfo --version") text += line + "\n";
        return text;
    }

  private:
    test::TemporaryFolder folder_;
};

}  // namespace zbs::slurm
