#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/formats/launchers/launch_request.hpp"
#include "algorithms/model/resource_graph.hpp"
#include "client/cli/output_file.hpp"

namespace zbs::cli {

/// What the launch formats say besides the mapping, as given on the command line.
struct LaunchOptions {
    std::vector<std::string> argv;  ///< program and arguments
    std::string name, directory, walltime;
    std::vector<std::string> environment;  ///< NAME=VALUE
    std::vector<std::string> contacts;     ///< ZONE=CONTACT
};

/// The launch of a mapped program: zones in order of their first rank, so that rank 0 comes first. Errors name the
/// option.
Result<formats::LaunchRequest> make_launch(const ResourceGraph& resources,
                                           const std::vector<ProcessorIndex>& processor_of,
                                           const LaunchOptions& options);

/// A text of a launch format; `zone` is empty where it is for all zones.
struct Document {
    std::string zone;
    std::string text;
    std::string host_file;  ///< that a rankfile is started with; else empty
};

/// rsl, jsdl, psij, hostfile, openmpi_hostfile, rankfile, slurm.
bool is_launch_format(std::string_view format);
/// All documents of the launch in that format, for one zone only where `zone` is not empty. For several zones
/// `hostfile` (its hosts named ZONE.MACHINE then) and `psij` (a list) are one for all, unless zones are asked for one
/// by one.
struct DocumentOptions {
    std::string format, zone;
    bool one_by_one = false;
};
Result<std::vector<Document>> write_documents(const formats::LaunchRequest& request, const DocumentOptions& options);

/// To standard output where `path` is empty or "-", else to that file, `{zone}` in its name replaced; a rankfile's host
/// file goes beside it as PATH.hosts. Several documents need `{zone}`. Either all files are written or none is left.
Result<void> deliver(const std::vector<Document>& documents, const std::string& path,
                     const std::vector<NamedFile>& kept = {});
Result<void> deliver(const std::string& text, const std::string& path);

}  // namespace zbs::cli
