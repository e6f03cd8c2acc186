#include "client/profiler/requests.hpp"

#include <unordered_map>

#include "client/profiler/recorder.hpp"

namespace zbs::profiler {
namespace {
SpinLock lock;
/// Never destroyed: MPI may be called while static objects of the program are being destroyed.
std::unordered_map<MPI_Request, PersistentSend>& requests() {
    static auto* map = new std::unordered_map<MPI_Request, PersistentSend>;
    return *map;
}
}  // namespace

void remember_request(MPI_Request request, MPI_Comm comm, int to, std::uint64_t bytes) noexcept {
    const MaybeLocked guard(lock);
    requests()[request] = {comm, to, bytes};
}
bool find_request(MPI_Request request, PersistentSend& found) noexcept {
    const MaybeLocked guard(lock);
    const auto at = requests().find(request);
    if (at == requests().end()) return false;
    found = at->second;
    return true;
}
void forget_request(MPI_Request request) noexcept {
    const MaybeLocked guard(lock);
    requests().erase(request);
}

}  // namespace zbs::profiler
