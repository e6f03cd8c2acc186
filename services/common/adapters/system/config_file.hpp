#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/ports/config_value.hpp"

namespace zbs::system {

constexpr std::size_t kMaxConfigParts = 100;              ///< files beside the main one
constexpr std::size_t kMaxConfigBytes = 8 * 1024 * 1024;  ///< of all files together

/// The folder whose files go with a configuration file: "/etc/zbs/zone.d" of "/etc/zbs/zone.toml".
std::string parts_folder(const std::string& path);

/// Reads one TOML file, and those of its folder of parts (`parts_folder`); remembers which keys were asked for, so that
/// `finish` can refuse the rest with file and line.
///
/// Parts are the files of that folder that end in ".toml" and do not begin with a dot, in the order of their bytes.
/// Tables are merged, arrays of tables appended; of all else the last file counts.
class ConfigFile {
  public:
    /// Errors name the file: kNotFound with the reason where it cannot be read, kInvalidArgument with the line, or with
    /// the folder where it has more than `kMaxConfigParts` parts or all have more than `kMaxConfigBytes`.
    static Result<ConfigFile> read(const std::string& path);
    ~ConfigFile();
    ConfigFile(ConfigFile&&) noexcept;
    ConfigFile& operator=(ConfigFile&&) noexcept;

    /// `key` is dotted ("listen.port"). A wrong type or range is remembered as the first fault.
    std::string text(const std::string& key, const std::string& fallback);
    std::string required_text(const std::string& key);
    std::int64_t integer(const std::string& key, std::int64_t fallback, std::int64_t min, std::int64_t max);
    double number(const std::string& key, double fallback, double min, double max);
    bool boolean(const std::string& key, bool fallback);
    /// "ADDRESS:PORT", an IP address, of IPv6 in brackets: the address without them, and the port, 0 to 65535.
    /// `example_port` is for the message of a fault; then empty and -1.
    std::pair<std::string, int> address(const std::string& key, const std::string& fallback, int example_port);
    bool has(const std::string& key) const;
    std::vector<std::string> texts(const std::string& key);
    /// How many tables stand in the array of tables `key`; their fields are then "key.0.field" and so on.
    std::size_t table_count(const std::string& key);
    /// Where `key` stands, "file:line", or the main file.
    std::string place(const std::string& key) const;
    /// The folder of the file that `key` stands in: relative paths begin there.
    std::string folder(const std::string& key) const;
    /// All that was asked for, each once, as it was answered: first what is in no table, then table by table, else
    /// in the order of asking. O(n log n).
    std::vector<ConfigValue> values() const;
    /// The files that were read, in their order: the main one first.
    const std::vector<std::string>& files() const;
    /// What is wrong with `key`; where it is not in the file, that it is missing, with the place of its table.
    void fail(const std::string& key, const std::string& message);
    /// The first fault of what is there; else the first key that nobody asked for; else the first thing that is
    /// missing.
    Result<void> finish();

  private:
    struct Impl;
    explicit ConfigFile(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace zbs::system
