#include "services/common/codec/staging_codec.hpp"

#include <algorithm>
#include <set>

#include "services/common/codec/json/base64.hpp"
#include "services/common/codec/json/words.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::codec {
namespace {

constexpr std::int64_t kMaxFileBytes = limits::kMaxStagedMiB * 1024 * 1024;
constexpr std::size_t kMaxNoteBytes = 1'536;
constexpr std::size_t kMaxFileSystemBytes = 128;
constexpr std::int64_t kMaxLeftOut = std::int64_t{1} << 40;

std::uint64_t read_size(JsonReader& in, const char* key) {
    return static_cast<std::uint64_t>(in.integer(key, 0, kMaxFileBytes));
}

Result<StagedFile> decode_staged_file(const Json& json, const std::string& pointer) {
    JsonReader in(json, pointer);
    StagedFile file;
    file.name = in.text("name", limits::kMaxStagedNameBytes);
    if (const std::string fault = input_name_fault(file.name); in.ok() && !fault.empty()) in.fail("name", fault);
    file.digest = read_digest(in, "digest");
    file.size = read_size(in, "size");
    file.executable = in.boolean_or("executable", false);
    return in.finish(std::move(file));
}

}  // namespace

Json encode(const Staging& staging) {
    Json inputs = Json::array();
    for (const StagedFile& file : staging.inputs) {
        Json one = {{"name", file.name}, {"digest", file.digest}, {"size", file.size}};
        if (file.executable) one["executable"] = true;
        inputs.push_back(std::move(one));
    }
    Json json = {{"inputs", std::move(inputs)}, {"results", staging.results}};
    if (!staging.program.empty()) json["program"] = staging.program;
    if (staging.always) json["always"] = true;
    return json;
}

Result<Staging> decode_staging(const Json& json, const std::string& pointer) {
    JsonReader in(json, pointer);
    Staging staging;
    std::set<std::string> names;
    const Json& inputs = in.array("inputs", limits::kMaxStagedInputs);
    for (std::size_t i = 0; i < inputs.size() && in.ok(); ++i) {
        const std::string at = "inputs/" + std::to_string(i);
        Result<StagedFile> file = decode_staged_file(inputs[i], in.pointer_of(at));
        if (!file) return file.error();
        if (!names.insert(file->name).second) in.fail(at + "/name", "is the name of two files");
        staging.inputs.push_back(*std::move(file));
    }
    for (std::size_t i = 0; i < staging.inputs.size() && in.ok(); ++i) {
        const std::string& name = staging.inputs[i].name;
        for (std::size_t end = name.find('/'); end != std::string::npos; end = name.find('/', end + 1))
            if (names.contains(name.substr(0, end)))
                in.fail("inputs/" + std::to_string(i) + "/name", "lies in a folder that is the name of a file, too");
    }
    staging.results =
        in.texts("results", limits::kMaxResultPatterns, limits::kMaxResultPatterns * limits::kMaxStagedNameBytes);
    for (std::size_t i = 0; i < staging.results.size() && in.ok(); ++i) {
        if (const std::string fault = result_pattern_fault(staging.results[i]); !fault.empty())
            in.fail("results/" + std::to_string(i), fault);
    }
    staging.program = in.text_or("program", "", limits::kMaxStagedNameBytes);
    if (in.ok() && !staging.program.empty() &&
        std::none_of(staging.inputs.begin(), staging.inputs.end(),
                     [&](const StagedFile& file) { return file.name == staging.program && file.executable; }))
        in.fail("program", "must be one of the inputs, and executable");
    staging.always = in.boolean_or("always", false);
    return in.finish(std::move(staging));
}

Json encode(const StagingNeed& need) {
    Json json = {{"bytes", need.bytes}, {"largest", need.largest}};
    if (!need.file_system.empty()) json["file_system"] = need.file_system;
    return json;
}

std::optional<StagingNeed> read_staging_need(JsonReader& in) {
    if (!in.has("staging")) return std::nullopt;
    JsonReader n(in.object("staging"), in.pointer_of("staging"));
    StagingNeed need;
    need.bytes = static_cast<std::uint64_t>(
        n.integer("bytes", 0, kMaxFileBytes * static_cast<std::int64_t>(limits::kMaxStagedInputs)));
    need.largest = read_size(n, "largest");
    if (n.ok() && need.largest > need.bytes) n.fail("largest", "must not be more than all bytes");
    need.file_system = n.text_or("file_system", "", kMaxFileSystemBytes);
    Result<StagingNeed> read = n.finish(std::move(need));
    if (read) return *std::move(read);
    in.fail(read.error());
    return std::nullopt;
}

Json encode(const StagingRequest& request) { return {{"token", request.token}, {"staging", encode(request.staging)}}; }

Result<StagingRequest> decode_staging_request(const Json& json) {
    JsonReader in(json);
    StagingRequest request;
    request.token = static_cast<std::uint64_t>(in.integer("token", 1, INT64_MAX));
    Result<Staging> staging = decode_staging(in.object("staging"), in.pointer_of("staging"));
    if (!in.ok()) return in.error();
    if (!staging) return staging.error();
    request.staging = *std::move(staging);
    return in.finish(std::move(request));
}

Json encode(const FilePresence& file) {
    return {{"digest", file.digest}, {"have", file.have}, {"complete", file.complete}};
}

Result<FilePresence> decode_file_presence(const Json& json, const std::string& pointer) {
    JsonReader in(json, pointer);
    FilePresence file;
    file.digest = read_digest(in, "digest");
    file.have = read_size(in, "have");
    file.complete = in.boolean("complete");
    return in.finish(std::move(file));
}

Json encode(const StagingStatus& status) {
    Json files = Json::array();
    for (const FilePresence& file : status.files) files.push_back(encode(file));
    return {{"files", std::move(files)}};
}

Result<StagingStatus> decode_staging_status(const Json& json) {
    JsonReader in(json);
    StagingStatus status;
    const Json& files = in.array("files", limits::kMaxStagedInputs);
    for (std::size_t i = 0; i < files.size() && in.ok(); ++i) {
        Result<FilePresence> file = decode_file_presence(files[i], in.pointer_of("files/" + std::to_string(i)));
        if (!file) return file.error();
        status.files.push_back(*std::move(file));
    }
    return in.finish(std::move(status));
}

Json encode(const FileChunk& chunk) {
    Json json = {{"size", chunk.size}, {"offset", chunk.offset}, {"bytes", to_base64(chunk.bytes)}};
    if (chunk.token > 0) json["token"] = chunk.token;
    return json;
}

Result<FileChunk> decode_file_chunk(const Json& json) {
    JsonReader in(json);
    FileChunk chunk;
    chunk.token = static_cast<std::uint64_t>(in.integer_or("token", 0, 0, INT64_MAX));
    chunk.size = read_size(in, "size");
    chunk.offset = read_size(in, "offset");
    std::optional<std::string> bytes = from_base64(in.text("bytes", (limits::kMaxFileChunkBytes + 2) / 3 * 4));
    if (in.ok() && !bytes) in.fail("bytes", "must be base64 with padding");
    if (!in.ok()) return in.error();
    chunk.bytes = *std::move(bytes);
    if (chunk.bytes.size() > limits::kMaxFileChunkBytes)
        in.fail("bytes", "are more than " + std::to_string(limits::kMaxFileChunkBytes));
    else if (chunk.offset > chunk.size || chunk.bytes.size() > chunk.size - chunk.offset)
        in.fail("bytes", "go over the end of the file, which has " + std::to_string(chunk.size));
    else if (chunk.bytes.empty() && chunk.offset < chunk.size)
        in.fail("bytes", "must not be empty");
    return in.finish(std::move(chunk));
}

Json encode(const StagedResults& results) {
    Json files = Json::array();
    for (const ResultFile& file : results.files) {
        Json one = {{"name", file.name}, {"digest", file.digest}, {"size", file.size}};
        if (!file.zone.empty()) one["zone"] = file.zone;
        if (file.executable) one["executable"] = true;
        files.push_back(std::move(one));
    }
    Json notes = Json::array();
    for (const std::string& note : results.notes) notes.push_back(bounded(note, kMaxNoteBytes));
    Json json = {{"complete", results.complete}, {"files", std::move(files)}, {"notes", std::move(notes)}};
    if (results.left_out > 0) json["left_out"] = results.left_out;
    return json;
}

Result<StagedResults> decode_staged_results(const Json& json, const std::string& pointer) {
    JsonReader in(json, pointer);
    StagedResults results;
    results.complete = in.boolean("complete");
    std::set<std::string> names;
    const Json& files = in.array("files", limits::kMaxResultFiles * limits::kMaxZonesPerPeering);
    for (std::size_t i = 0; i < files.size() && in.ok(); ++i) {
        JsonReader f(files[i], in.pointer_of("files/" + std::to_string(i)));
        ResultFile file;
        file.name = f.text("name", limits::kMaxStagedNameBytes);
        if (const std::string fault = result_name_fault(file.name); f.ok() && !fault.empty()) f.fail("name", fault);
        if (f.ok() && !names.insert(file.name).second) f.fail("name", "is the name of two files");
        file.digest = read_digest(f, "digest");
        file.size = read_size(f, "size");
        if (f.has("zone")) file.zone = read_name(f, "zone");
        file.executable = f.boolean_or("executable", false);
        Result<ResultFile> done = f.finish(std::move(file));
        if (!done) return done.error();
        results.files.push_back(*std::move(done));
    }
    results.left_out = static_cast<std::uint64_t>(in.integer_or("left_out", 0, 0, kMaxLeftOut));
    results.notes = in.texts("notes", limits::kMaxStagingNotes, limits::kMaxStagingNotes * (kMaxNoteBytes + 8));
    return in.finish(std::move(results));
}

}  // namespace zbs::codec
