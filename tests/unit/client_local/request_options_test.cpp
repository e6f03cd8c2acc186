#include "client/cli/request_options.hpp"

#include <gtest/gtest.h>

namespace zbs::cli {
namespace {

TEST(OptionOfField, IsWrittenOnTheCommandLine) {
    for (const auto& [pointer, option] :
         std::vector<std::pair<std::string, std::string>>{{"/ranks", "-n"},
                                                          {"/walltime_s", "--walltime"},
                                                          {"/directory", "--chdir"},
                                                          {"/environment/PMI_RANK", "--env PMI_RANK"},
                                                          {"/environment", "--env"},
                                                          {"/argv", "program"},
                                                          {"/argv/0", "program"},
                                                          {"/argv/12", "argument 12"},
                                                          {"/zones/1", "--zones"},
                                                          {"/staging/inputs/3/name", "--stage-in"},
                                                          {"/staging/results/0", "--stage-out"},
                                                          {"/name", "--name"},
                                                          {"/names", "field 'names' of the request"},
                                                          {"/use_profile", "field 'use_profile' of the request"},
                                                          {"--walltime", "--walltime"},
                                                          {"", ""}})
        EXPECT_EQ(option_of_field(pointer), option) << pointer;
}

}  // namespace
}  // namespace zbs::cli
