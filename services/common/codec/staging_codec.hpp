#pragma once
#include "services/common/codec/json/json.hpp"
#include "services/common/messages/staging.hpp"

namespace zbs::codec {

Json encode(const Staging& staging);
/// Errors also for a name twice, a program that is no executable input, a size over limits::kMaxStagedMiB.
Result<Staging> decode_staging(const Json& json, const std::string& pointer = {});

Json encode(const StagingNeed& need);
Result<StagingNeed> decode_staging_need(const Json& json, const std::string& pointer);

Json encode(const StagingRequest& request);
Result<StagingRequest> decode_staging_request(const Json& json);

Json encode(const FilePresence& file);
Result<FilePresence> decode_file_presence(const Json& json, const std::string& pointer = {});
/// Of this file and of no other.
Result<FilePresence> decode_presence_of(const std::string& digest, const Json& json);

Json encode(const StagingStatus& status);
Result<StagingStatus> decode_staging_status(const Json& json);

/// The bytes go as base64.
Json encode(const FileChunk& chunk);
Result<FileChunk> decode_file_chunk(const Json& json);

Json encode(const StagedResults& results);
Result<StagedResults> decode_staged_results(const Json& json, const std::string& pointer = {});

}  // namespace zbs::codec
