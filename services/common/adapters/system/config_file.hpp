#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/base/result.hpp"

namespace zbs::system {

/// Reads one TOML file; remembers which keys were asked for, so that `finish` can refuse the rest with file and line.
class ConfigFile {
  public:
    /// Errors name the file: kNotFound with the reason where it cannot be read, kInvalidArgument with the line.
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
    /// "ADDRESS:PORT", an IPv6 address in brackets: the address without them, and the port, 0 to 65535. `example_port`
    /// is for the message of a fault; then empty and -1.
    std::pair<std::string, int> address(const std::string& key, const std::string& fallback, int example_port);
    bool has(const std::string& key) const;
    std::vector<std::string> texts(const std::string& key);
    /// How many tables stand in the array of tables `key`; their fields are then "key.0.field" and so on.
    std::size_t table_count(const std::string& key);
    /// Where `key` stands, "file:line", or the file.
    std::string place(const std::string& key) const;
    /// What is wrong with `key`; where it is not in the file, that it is missing.
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
