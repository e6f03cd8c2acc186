#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/common/messages/names/name_types.hpp"

namespace zbs {

/// A file that goes with an application, known by what is in it.
struct StagedFile {
    std::string name;    ///< in the folder that the ranks run in; fits `input_name_fault`
    std::string digest;  ///< SHA-256, 64 hexadecimal digits in small letters
    std::uint64_t size = 0;
    bool executable = false;  ///< all that is kept of its mode
    bool operator==(const StagedFile&) const = default;
};

/// Which files an application brings along, and which it leaves behind.
struct Staging {
    std::vector<StagedFile> inputs;    ///< by name, no name twice
    std::vector<std::string> results;  ///< names, or patterns as `matches_result` reads them
    std::string program;               ///< the input that the ranks execute; empty: a program that is in the zones
    bool always = false;               ///< also between zones that share a file system
    bool empty() const { return inputs.empty() && results.empty(); }
    bool operator==(const Staging&) const = default;
};

/// What a zone must take in for an application with files: said before anything is held.
struct StagingNeed {
    std::uint64_t bytes = 0;    ///< of all inputs
    std::uint64_t largest = 0;  ///< of the largest
    std::string file_system{};  ///< where a zone declares this one it need not take anything; empty: it has to
    bool operator==(const StagingNeed&) const = default;
};
/// None where no files go along. `shared`: the file system that home declares.
std::optional<StagingNeed> need_of(const Staging& staging, const std::string& shared);

/// What home asks of the zone of a committed part, and the same again while it sends: the launch window begins anew.
struct StagingRequest {
    std::uint64_t token = 0;  ///< of the hold
    Staging staging;
    bool operator==(const StagingRequest&) const = default;
};

/// How much of a file a zone has.
struct FilePresence {
    std::string digest;
    std::uint64_t have = 0;  ///< bytes from the beginning on
    bool complete = false;   ///< all of it, and its checksum is right
    bool operator==(const FilePresence&) const = default;
};

struct StagingStatus {
    std::vector<FilePresence> files;  ///< of the inputs, in their order
    bool operator==(const StagingStatus&) const = default;
};

/// A piece of a file on its way.
struct FileChunk {
    std::uint64_t token = 0;  ///< of the hold, between zones; else 0
    std::uint64_t size = 0;   ///< of the whole file, bytes
    std::uint64_t offset = 0;
    std::string bytes;  ///< at most limits::kMaxFileChunkBytes; empty only of an empty file
    bool operator==(const FileChunk&) const = default;
};

struct ResultFile {
    std::string name;
    std::string digest;
    std::uint64_t size = 0;
    ZoneName zone{};          ///< where it comes from; empty in a zone's own answer
    bool executable = false;  ///< all that is kept of its mode
    bool operator==(const ResultFile&) const = default;
};

/// What a part, or an application, has left of what its patterns ask for.
struct StagedResults {
    bool complete = false;  ///< nothing will follow
    std::vector<ResultFile> files;
    std::vector<std::string> notes;  ///< what was not taken, renamed or not found, for people
    /// Files, folders and links that were asked for and do not come, and names and patterns that no file has. Each has
    /// a note, up to limits::kMaxStagingNotes.
    std::uint64_t left_out = 0;
    void add_note(std::string text);
    void leave_out(std::string text);  ///< counts and notes it
    bool operator==(const StagedResults&) const = default;
};

/// What is wrong with the name of a file in a job's folder, which may lie in folders of it, as `out/a b.dat`; empty if
/// nothing is. It is relative, UTF-8 without control characters, at most limits::kMaxStagedNameBytes long. No folder or
/// file in it is empty, `.`, `..`, or longer than limits::kMaxStagedNameSegmentBytes.
std::string file_name_fault(std::string_view name);
/// The same of a result, which does not begin with `own_files::kPrefix` either.
std::string result_name_fault(std::string_view name);
/// The same of an input. It also has no '\', does not begin with '.', and no folder or file in it begins with '-'.
std::string input_name_fault(std::string_view name);
/// The same of a pattern of results; it may match names that a step uses.
std::string result_pattern_fault(std::string_view pattern);
/// Whether it has a `*`: else it is the name of one file.
bool is_pattern(std::string_view name);
/// Whether `pattern` covers all of `name`: `*` stands for any letters but '/', also none, and `**` for '/' too. A '.'
/// that begins a name is a letter as any other. O(pattern x name).
bool matches_result(std::string_view pattern, std::string_view name);
/// Whether `pattern` may cover names in the folder `folder`. Costs as `matches_result`.
bool may_match_in(std::string_view pattern, std::string_view folder);
/// Whether a zone writes this file itself at the top of a job's folder (`own_files`): no result has such a name.
bool is_own_output(std::string_view name);

}  // namespace zbs
