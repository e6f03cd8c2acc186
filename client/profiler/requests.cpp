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
struct PendingReceive {
    Receive receive;
    bool persistent = false;
    bool is_active = true;
};
std::unordered_map<MPI_Request, PendingReceive>& receives() {
    static auto* map = new std::unordered_map<MPI_Request, PendingReceive>;
    return *map;
}
std::unordered_map<MPI_Message, const Members*>& messages() {
    static auto* map = new std::unordered_map<MPI_Message, const Members*>;
    return *map;
}
}  // namespace

void remember_receive(MPI_Request request, const Receive& receive, bool persistent) noexcept {
    if (!receive.members || request == MPI_REQUEST_NULL) return;
    const MaybeLocked guard(lock);
    receives()[request] = {receive, persistent, !persistent};
}
Receive completed_receive(MPI_Request request) noexcept {
    const MaybeLocked guard(lock);
    const auto at = receives().find(request);
    if (at == receives().end()) return {};
    const PendingReceive found = at->second;
    at->second.is_active = false;
    if (!found.persistent) receives().erase(at);
    return found.is_active ? found.receive : Receive{};
}
void start_receive(MPI_Request request) noexcept {
    const MaybeLocked guard(lock);
    if (const auto at = receives().find(request); at != receives().end()) at->second.is_active = true;
}
void remember_message(MPI_Message message, const Members* members) noexcept {
    const MaybeLocked guard(lock);
    messages()[message] = members;
}
const Members* take_message(MPI_Message message) noexcept {
    const MaybeLocked guard(lock);
    const auto at = messages().find(message);
    if (at == messages().end()) return nullptr;
    const Members* members = at->second;
    messages().erase(at);
    return members;
}

void remember_request(MPI_Request request, MPI_Comm comm, int to, int tag, std::uint64_t bytes) noexcept {
    const MaybeLocked guard(lock);
    requests()[request] = {comm, to, tag, bytes};
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
    if (recorder.tracing) receives().erase(request);
}

}  // namespace zbs::profiler
