#pragma once
#include <cstddef>
#include <string>

#include "algorithms/base/result.hpp"
#include "algorithms/formats/launchers/launch_request.hpp"

namespace zbs::formats {

/// The JSDL 1.0 document (SPMD extension, LF line ends) for one zone of a launch; JSDL has no document for several. All
/// share the job's name; annotations `zbs.zone=`, `zbs.zone_index=`, `zbs.zone_count=`, `zbs.ranks=` and
/// `zbs.walltime_s=` say which part it is. ProcessesPerHost stands only where all hosts have equally many ranks. The
/// walltime is an annotation because the extension has limits of CPU time only, which programs with threads would meet
/// early.
///
/// Fails on what XML 1.0 cannot carry: control characters other than tab and line feed (a carriage return would come
/// back as a line feed), text that is not UTF-8.
Result<std::string> write_jsdl(const LaunchRequest& request, std::size_t zone);

}  // namespace zbs::formats
