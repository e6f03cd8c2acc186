#include "services/common/adapters/system/spd_log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "algorithms/base/text.hpp"

namespace zbs::system {
namespace {

std::string escaped(const std::string& value) {
    if (!value.empty() &&
        value.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./:@+,") ==
            std::string::npos)
        return value;
    std::string out = "\"";
    for (const char& c : value) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
            out += "\\x" + hexadecimal({&c, 1});
        } else {
            out += c;
        }
    }
    return out + "\"";
}

class SpdLog : public Log {
  public:
    explicit SpdLog(const std::string& program)
        : logger_(std::make_shared<spdlog::logger>(program, std::make_shared<spdlog::sinks::stderr_sink_mt>())) {
        logger_->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %n %v");
        logger_->flush_on(spdlog::level::info);
    }
    void info(const char* event, const Fields& fields) override { write(spdlog::level::info, event, fields); }
    void warn(const char* event, const Fields& fields) override { write(spdlog::level::warn, event, fields); }

  private:
    void write(spdlog::level::level_enum level, const char* event, const Fields& fields) {
        std::string line = event;
        for (const auto& [key, value] : fields) line += std::string(" ") + key + "=" + escaped(value);
        logger_->log(level, "{}", line);
    }
    std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace

std::unique_ptr<Log> make_log(const std::string& program) { return std::make_unique<SpdLog>(program); }

}  // namespace zbs::system
