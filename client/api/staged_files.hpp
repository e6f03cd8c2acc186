#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "client/api/zone_client.hpp"
#include "services/common/messages/staging.hpp"

namespace zbs::client {

/// The description of a file for a zone: its checksum, size, and whether its owner may execute it. Errors: kNotFound
/// (no regular file), kUnavailable. Costs reading the file.
Result<StagedFile> describe_file(const std::string& path, const std::string& name);

/// Whether a file still is as `describe_file` found it; costs reading it. Errors: kConflict if it changed.
Result<void> check_unchanged(const std::string& path, const StagedFile& file);

/// Sends what home has not of a file; an earlier try that was cut short goes on where it stopped. The bytes sent.
/// Errors: the zone's; kConflict where the file has changed meanwhile.
Result<std::uint64_t> send_file(ZoneClient& zone, const std::string& path, const StagedFile& file);

/// Whether files can be put into `folder` at all, before there are any. `results`: patterns; a plain name that is there
/// already is refused, because nothing is replaced. Errors: what it lacks, and the remedy.
Result<void> check_fetch_folder(const std::string& folder, const std::vector<std::string>& results);

/// Fetches a result into `folder`, under its name, executable if it was; an earlier try goes on where it stopped.
/// Nothing is replaced, and nothing is written elsewhere. False where it is there already, with the same content.
/// Errors: kConflict where another file has that name; kUnavailable; the zone's.
Result<bool> fetch_file(ZoneClient& zone, const std::string& application, const ResultFile& file,
                        const std::string& folder);

}  // namespace zbs::client
