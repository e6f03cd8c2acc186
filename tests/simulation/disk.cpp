#include "tests/simulation/disk.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>

namespace zbs::simulation {
namespace {

void apply(std::string& content, const Disk::Write& write, std::size_t bytes) {
    if (write.truncates) {
        content.resize(std::min(content.size(), write.offset));
        return;
    }
    if (content.size() < write.offset + bytes) content.resize(write.offset + bytes, '\0');
    content.replace(write.offset, bytes, write.bytes, 0, bytes);
}

}  // namespace

Disk::File& Disk::open(const std::string& name, bool create) {
    std::unique_ptr<File>& file = files_[name];
    if (file == nullptr) file = std::make_unique<File>();
    if (create && !file->exists) {
        // A journalling file system keeps the names of new files in order with the first sync of their content.
        file->exists = true;
        file->current.clear();
        file->unsynced.clear();
    }
    return *file;
}

bool Disk::exists(const std::string& name) const {
    const auto at = files_.find(name);
    return at != files_.end() && at->second->exists;
}

void Disk::remove(const std::string& name) {
    const auto at = files_.find(name);
    if (at == files_.end()) return;
    at->second->exists = at->second->exists_durably = false;
    at->second->current.clear();
    at->second->durable.clear();
    at->second->unsynced.clear();
}

void Disk::write(File& file, std::size_t offset, const char* bytes, std::size_t size) {
    const Write write{offset, std::string(bytes, size), false};
    apply(file.current, write, size);
    if (!dead_) file.unsynced.push_back(write);
}

void Disk::truncate(File& file, std::size_t size) {
    const Write write{size, {}, true};
    apply(file.current, write, 0);
    if (!dead_) file.unsynced.push_back(write);
}

bool Disk::sync(File& file) {
    ++syncs_;
    if (on_sync_) on_sync_();
    if (fails_ || dead_) return false;
    if (ignores_) return true;
    for (const Write& write : file.unsynced) apply(file.durable, write, write.bytes.size());
    file.unsynced.clear();
    file.exists_durably = file.exists;
    if (on_sync_) on_sync_();
    return true;
}

void Disk::crash(Rng& rng) {
    dead_ = fails_ = false;
    for (auto& [name, file] : files_) {
        std::string left = file->durable;
        bool any = file->exists_durably;
        for (const Write& write : file->unsynced) {
            const std::uint64_t fate = rng.below(3);
            if (fate == 0) continue;
            any = true;
            std::size_t bytes = write.bytes.size();
            if (fate == 1 && bytes > kSector) bytes = kSector * rng.below(bytes / kSector + 1);
            apply(left, write, bytes);
        }
        file->unsynced.clear();
        file->exists = file->exists_durably = any && (file->exists || file->exists_durably);
        file->durable = file->exists ? left : std::string{};
        file->current = file->durable;
    }
}

namespace {

struct OpenFile {
    sqlite3_file base;
    Disk* disk;
    Disk::File* file;
    std::string* name;
    std::vector<std::unique_ptr<std::string>>* shared;  // regions of the write-ahead log's index
    bool delete_on_close;
};

OpenFile& of(sqlite3_file* file) { return *reinterpret_cast<OpenFile*>(file); }

int close_file(sqlite3_file* f) {
    OpenFile& file = of(f);
    if (file.delete_on_close) file.disk->remove(*file.name);
    delete file.name;
    delete file.shared;
    return SQLITE_OK;
}

int read_file(sqlite3_file* f, void* to, int amount, sqlite3_int64 offset) {
    const std::string& content = of(f).file->current;
    const auto from = static_cast<std::size_t>(offset), wanted = static_cast<std::size_t>(amount);
    const std::size_t there = from < content.size() ? std::min(wanted, content.size() - from) : 0;
    if (there > 0) std::memcpy(to, content.data() + from, there);
    if (there == wanted) return SQLITE_OK;
    std::memset(static_cast<char*>(to) + there, 0, wanted - there);
    return SQLITE_IOERR_SHORT_READ;
}

int write_file(sqlite3_file* f, const void* from, int amount, sqlite3_int64 offset) {
    of(f).disk->write(*of(f).file, static_cast<std::size_t>(offset), static_cast<const char*>(from),
                      static_cast<std::size_t>(amount));
    return SQLITE_OK;
}

int truncate_file(sqlite3_file* f, sqlite3_int64 size) {
    of(f).disk->truncate(*of(f).file, static_cast<std::size_t>(size));
    return SQLITE_OK;
}

int sync_file(sqlite3_file* f, int) { return of(f).disk->sync(*of(f).file) ? SQLITE_OK : SQLITE_IOERR_FSYNC; }

int file_size(sqlite3_file* f, sqlite3_int64* size) {
    *size = static_cast<sqlite3_int64>(of(f).file->current.size());
    return SQLITE_OK;
}

// One connection a database, as the services have it: locks are always free.
int lock(sqlite3_file*, int) { return SQLITE_OK; }
int check_lock(sqlite3_file*, int* reserved) { return *reserved = 0, SQLITE_OK; }
int control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
int sector_size(sqlite3_file*) { return static_cast<int>(Disk::kSector); }
int characteristics(sqlite3_file*) { return 0; }

int shared_map(sqlite3_file* f, int region, int size, int extend, void volatile** memory) {
    auto& regions = *of(f).shared;
    const auto index = static_cast<std::size_t>(region);
    if (index >= regions.size() && extend == 0) return *memory = nullptr, SQLITE_OK;
    while (regions.size() <= index)
        regions.push_back(std::make_unique<std::string>(static_cast<std::size_t>(size), '\0'));
    *memory = regions[index]->data();
    return SQLITE_OK;
}
int shared_lock(sqlite3_file*, int, int, int) { return SQLITE_OK; }
void shared_barrier(sqlite3_file*) {}
int shared_unmap(sqlite3_file* f, int) { return of(f).shared->clear(), SQLITE_OK; }

const sqlite3_io_methods kMethods = {
    2,           close_file,     read_file,    write_file, truncate_file, sync_file,       file_size,
    lock,        lock,           check_lock,   control,    sector_size,   characteristics, shared_map,
    shared_lock, shared_barrier, shared_unmap, nullptr,    nullptr};

std::map<std::string, Disk>* g_disks = nullptr;
Rng g_random{1};

/// The disk that a path lies on; none for paths of another form.
Disk* disk_of(std::string_view path) {
    constexpr std::string_view kRoot = "/disk/";
    if (!path.starts_with(kRoot)) return nullptr;
    path.remove_prefix(kRoot.size());
    const auto at = g_disks->find(std::string(path.substr(0, path.find('/'))));
    return at == g_disks->end() ? nullptr : &at->second;
}

int open_file(sqlite3_vfs*, const char* name, sqlite3_file* f, int flags, int* out_flags) {
    auto& file = *new (f) OpenFile{};
    static int temporary = 0;
    const std::string path =
        name != nullptr ? name : "/disk/" + g_disks->begin()->first + "/tmp" + std::to_string(++temporary);
    file.disk = disk_of(path);
    if (file.disk == nullptr) return SQLITE_CANTOPEN;
    const bool create = (flags & SQLITE_OPEN_CREATE) != 0;
    if (!create && !file.disk->exists(path)) return SQLITE_CANTOPEN;
    file.file = &file.disk->open(path, create);
    file.name = new std::string(path);
    file.shared = new std::vector<std::unique_ptr<std::string>>;
    file.delete_on_close = name == nullptr || (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
    file.base.pMethods = &kMethods;
    if (out_flags != nullptr) *out_flags = flags;
    return SQLITE_OK;
}

int remove_file(sqlite3_vfs*, const char* name, int) {
    if (Disk* disk = disk_of(name)) disk->remove(name);
    return SQLITE_OK;
}
int access_file(sqlite3_vfs*, const char* name, int, int* result) {
    const Disk* disk = disk_of(name);
    *result = disk != nullptr && disk->exists(name) ? 1 : 0;
    return SQLITE_OK;
}
int full_path(sqlite3_vfs*, const char* name, int size, char* out) {
    sqlite3_snprintf(size, out, "%s", name);
    return SQLITE_OK;
}
int randomness(sqlite3_vfs*, int size, char* out) {
    for (int i = 0; i < size; ++i) out[i] = static_cast<char>(g_random.below(256));
    return size;
}
int no_sleep(sqlite3_vfs*, int microseconds) { return microseconds; }
int fixed_time(sqlite3_vfs*, double* days) { return *days = 2460000.5, SQLITE_OK; }
int last_error(sqlite3_vfs*, int, char*) { return 0; }

}  // namespace

void install_disks(std::map<std::string, Disk>& disks) {
    g_disks = &disks;
    g_random = Rng{1};
    static sqlite3_vfs files = {};
    static std::once_flag once;
    std::call_once(once, [] {
        files.iVersion = 1;
        files.szOsFile = sizeof(OpenFile);
        files.mxPathname = 512;
        files.zName = "simulated-disks";
        files.xOpen = open_file;
        files.xDelete = remove_file;
        files.xAccess = access_file;
        files.xFullPathname = full_path;
        files.xRandomness = randomness;
        files.xSleep = no_sleep;
        files.xCurrentTime = fixed_time;
        files.xGetLastError = last_error;
        sqlite3_vfs_register(&files, 1);
    });
}

}  // namespace zbs::simulation
