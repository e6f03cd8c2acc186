#pragma once
#include <optional>
#include <string>

namespace zbs::test {

/// The unzipped content of a file; nothing where it is missing or damaged.
std::optional<std::string> read_packed(const std::string& path);

/// The unzipped content of a file of the collection of workload traces and reference schedules, which lies beside the
/// repository and is no part of it; nothing where it is missing or damaged. `name` is its path there, without ".gz".
std::optional<std::string> read_reference_trace(const std::string& name);

}  // namespace zbs::test

/// In a test: binds `text` to a reference file, or skips with the reason.
#define ZBS_REFERENCE_TRACE(text, name)                                                                    \
    const std::optional<std::string> text##_file = ::zbs::test::read_reference_trace(name);                \
    if (!text##_file)                                                                                      \
        GTEST_SKIP() << "skipped: " << (name) << ".gz is not in ../shared/data/swf beside the repository"; \
    const std::string& text = *text##_file
