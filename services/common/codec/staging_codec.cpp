#include "services/common/codec/staging_codec.hpp"

#include <algorithm>
#include <set>

#include "services/common/codec/json/fields.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/text/checksum.hpp"

namespace zbs::codec {
namespace {

constexpr std::int64_t kMaxFileBytes = limits::kMaxStagedMiB * 1024 * 1024;
constexpr std::size_t kMaxNoteBytes = 1'536;
constexpr std::size_t kMaxPatternsBytes = limits::kMaxResultPatterns * limits::kMaxStagedNameBytes;
constexpr std::size_t kMaxFileSystemBytes = 128;
constexpr std::int64_t kMaxLeftOut = std::int64_t{1} << 40;

/// Also of inputs that are in a folder with the name of another input.
void check_names(JsonReader& in, const std::vector<StagedFile>& inputs) {
    std::set<std::string> names;
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (!names.insert(inputs[i].name).second)
            in.fail("inputs/" + std::to_string(i) + "/name", "is the name of two files");
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::string& name = inputs[i].name;
        for (std::size_t end = name.find('/'); end != std::string::npos; end = name.find('/', end + 1))
            if (names.contains(name.substr(0, end)))
                in.fail("inputs/" + std::to_string(i) + "/name", "lies in a folder that is the name of a file, too");
    }
}
void check_staging(JsonReader& in, const Staging& staging) {
    check_names(in, staging.inputs);
    for (std::size_t i = 0; i < staging.results.size(); ++i)
        if (const std::string fault = result_pattern_fault(staging.results[i]); !fault.empty())
            in.fail("results/" + std::to_string(i), fault);
    if (!staging.program.empty() &&
        std::none_of(staging.inputs.begin(), staging.inputs.end(),
                     [&](const StagedFile& file) { return file.name == staging.program && file.executable; }))
        in.fail("program", "must be one of the inputs, and executable");
}
void check_input_name(JsonReader& in, const StagedFile& file) {
    if (const std::string fault = input_name_fault(file.name); !fault.empty()) in.fail("name", fault);
}
void check_need(JsonReader& in, const StagingNeed& need) {
    if (need.largest > need.bytes) in.fail("largest", "must not be more than all bytes");
}
void check_chunk(JsonReader& in, const FileChunk& chunk) {
    if (chunk.bytes.size() > limits::kMaxFileChunkBytes)
        in.fail("bytes", "are more than " + std::to_string(limits::kMaxFileChunkBytes));
    else if (chunk.offset > chunk.size || chunk.bytes.size() > chunk.size - chunk.offset)
        in.fail("bytes", "go over the end of the file, which has " + std::to_string(chunk.size));
    else if (chunk.bytes.empty() && chunk.offset < chunk.size)
        in.fail("bytes", "must not be empty");
}
void check_result_name(JsonReader& in, const ResultFile& file) {
    if (const std::string fault = result_name_fault(file.name); !fault.empty()) in.fail("name", fault);
}
void check_results(JsonReader& in, const StagedResults& results) {
    std::set<std::string> names;
    for (std::size_t i = 0; i < results.files.size(); ++i)
        if (!names.insert(results.files[i].name).second)
            in.fail("files/" + std::to_string(i) + "/name", "is the name of two files");
}

std::string read_bytes(JsonReader& in, const char* key) {
    std::optional<std::string> bytes = from_base64(in.text(key, (limits::kMaxFileChunkBytes + 2) / 3 * 4));
    if (!bytes) in.fail(key, "must be base64 with padding");
    return std::move(bytes).value_or("");
}
Json write_notes(const std::vector<std::string>& notes) {
    Json json = Json::array();
    for (const std::string& note : notes) json.push_back(bounded(note, kMaxNoteBytes));
    return json;
}
std::vector<std::string> read_notes(JsonReader& in, const char* key) {
    return in.texts(key, limits::kMaxStagingNotes, limits::kMaxStagingNotes * (kMaxNoteBytes + 8));
}

// One field a line.
// clang-format off
constexpr auto kStagedFile = fields<StagedFile>(
    text("name", &StagedFile::name, limits::kMaxStagedNameBytes),
    digest("digest", &StagedFile::digest),
    count("size", &StagedFile::size, kMaxFileBytes),
    optional(boolean("executable", &StagedFile::executable))).checked(check_input_name);

constexpr auto kStaging = fields<Staging>(
    list("inputs", &Staging::inputs, limits::kMaxStagedInputs, kStagedFile),
    texts("results", &Staging::results, limits::kMaxResultPatterns, kMaxPatternsBytes),
    optional(text("program", &Staging::program, limits::kMaxStagedNameBytes)),
    optional(boolean("always", &Staging::always))).checked(check_staging);

constexpr auto kStagingNeed = fields<StagingNeed>(
    count("bytes", &StagingNeed::bytes, kMaxFileBytes * static_cast<std::int64_t>(limits::kMaxStagedInputs)),
    count("largest", &StagingNeed::largest, kMaxFileBytes),
    optional(text("file_system", &StagingNeed::file_system, kMaxFileSystemBytes))).checked(check_need);

constexpr auto kStagingRequest = fields<StagingRequest>(
    integer("token", &StagingRequest::token, 1, INT64_MAX),
    nested("staging", &StagingRequest::staging, kStaging));

constexpr auto kFilePresence = fields<FilePresence>(
    digest("digest", &FilePresence::digest),
    count("have", &FilePresence::have, kMaxFileBytes),
    boolean("complete", &FilePresence::complete));

constexpr auto kStagingStatus = fields<StagingStatus>(
    list("files", &StagingStatus::files, limits::kMaxStagedInputs, kFilePresence));

constexpr auto kFileChunk = fields<FileChunk>(
    optional(count("token", &FileChunk::token)),
    count("size", &FileChunk::size, kMaxFileBytes),
    count("offset", &FileChunk::offset, kMaxFileBytes),
    Field{"bytes", &FileChunk::bytes, to_base64, read_bytes}).checked(check_chunk);

constexpr auto kResultFile = fields<ResultFile>(
    text("name", &ResultFile::name, limits::kMaxStagedNameBytes),
    digest("digest", &ResultFile::digest),
    count("size", &ResultFile::size, kMaxFileBytes),
    optional(name("zone", &ResultFile::zone)),
    optional(boolean("executable", &ResultFile::executable))).checked(check_result_name);

constexpr auto kStagedResults = fields<StagedResults>(
    boolean("complete", &StagedResults::complete),
    list("files", &StagedResults::files, limits::kMaxResultFiles * limits::kMaxZonesPerPeering, kResultFile),
    optional(count("left_out", &StagedResults::left_out, kMaxLeftOut)),
    Field{"notes", &StagedResults::notes, write_notes, read_notes}).checked(check_results);
// clang-format on

}  // namespace

Json encode(const Staging& staging) { return kStaging.encode(staging); }
Result<Staging> decode_staging(const Json& json, const std::string& pointer) { return kStaging.decode(json, pointer); }
Json encode(const StagingNeed& need) { return kStagingNeed.encode(need); }
Result<StagingNeed> decode_staging_need(const Json& json, const std::string& pointer) {
    return kStagingNeed.decode(json, pointer);
}
Json encode(const StagingRequest& request) { return kStagingRequest.encode(request); }
Result<StagingRequest> decode_staging_request(const Json& json) { return kStagingRequest.decode(json); }
Json encode(const FilePresence& file) { return kFilePresence.encode(file); }
Result<FilePresence> decode_file_presence(const Json& json, const std::string& pointer) {
    return kFilePresence.decode(json, pointer);
}
Result<FilePresence> decode_presence_of(const std::string& digest, const Json& json) {
    Result<FilePresence> file = decode_file_presence(json);
    if (file && file->digest != digest) return invalid("is another file than " + digest, "/digest");
    return file;
}
Json encode(const StagingStatus& status) { return kStagingStatus.encode(status); }
Result<StagingStatus> decode_staging_status(const Json& json) { return kStagingStatus.decode(json); }
Json encode(const FileChunk& chunk) { return kFileChunk.encode(chunk); }
Result<FileChunk> decode_file_chunk(const Json& json) { return kFileChunk.decode(json); }
Json encode(const StagedResults& results) { return kStagedResults.encode(results); }
Result<StagedResults> decode_staged_results(const Json& json, const std::string& pointer) {
    return kStagedResults.decode(json, pointer);
}

}  // namespace zbs::codec
