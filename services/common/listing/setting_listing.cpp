#include "services/common/listing/setting_listing.hpp"

#include <algorithm>
#include <cctype>

#include "algorithms/base/text.hpp"
#include "services/common/codec/json/document_text.hpp"

namespace zbs::listing {

using codec::Json;

namespace {

constexpr const char* kLeftOut = "***";

bool names_a_secret(std::string_view name) {
    std::string lower(name);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return std::ranges::any_of(std::initializer_list<std::string_view>{"password", "secret", "token"},
                               [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

/// USER:PASSWORD@HOST:PORT/PATH. A password may hold any of its separators, so the last '@' counts; without one, what
/// stands in the place of a port and is no number may be a password.
std::string place_without_password(std::string_view place) {
    const std::size_t colon = place.find(':');
    if (colon == std::string_view::npos) return std::string(place);
    const std::size_t at = place.rfind('@');
    const std::string before(place.substr(0, colon + 1));
    if (at != std::string_view::npos && at > colon) return before + kLeftOut + std::string(place.substr(at));
    const std::size_t port = place.rfind(':');
    const std::string_view digits = place.substr(port + 1, place.find('/', port) - port - 1);
    const bool is_port = digits.find_first_not_of("0123456789") == std::string_view::npos;
    return is_port ? std::string(place) : before + kLeftOut;
}

/// NAME=VALUE&NAME=VALUE. A name with a % may be anything.
std::string parameters_without_passwords(std::string_view parameters) {
    std::string out;
    while (true) {
        const std::size_t end = parameters.find('&');
        const std::string_view one = parameters.substr(0, end);
        const std::size_t equals = std::min(one.find('='), one.size());
        const std::string_view name = one.substr(0, equals);
        const bool is_secret = names_a_secret(name) || name.find('%') != std::string_view::npos;
        out += is_secret ? std::string(name) + "=" + kLeftOut : std::string(one);
        if (end == std::string_view::npos) return out;
        out += '&';
        parameters.remove_prefix(end + 1);
    }
}

struct ToCell {
    Cell operator()(const std::string& text) const {
        const std::string shown = without_passwords(text);
        return {shown, Json(shown)};
    }
    Cell operator()(std::int64_t number) const { return number; }
    Cell operator()(double number) const { return {number_text("%.15g", number), Json(number)}; }
    Cell operator()(bool flag) const { return {flag ? "true" : "false", Json(flag)}; }
    Cell operator()(const std::vector<std::string>& texts) const {
        std::string shown;
        Json items = Json::array();
        for (const std::string& text : texts) {
            const std::string one = without_passwords(text);
            shown += (shown.empty() ? "" : ", ") + one;
            items.push_back(one);
        }
        return {shown, std::move(items)};
    }
};

Cell cell_of(const ConfigValue& setting) {
    const std::string name = setting.key.substr(setting.key.rfind('.') + 1);
    return names_a_secret(name) ? Cell(kLeftOut) : std::visit(ToCell{}, setting.value);
}

}  // namespace

std::string without_passwords(const std::string& text) {
    const std::size_t scheme = text.find("://");
    if (scheme == std::string::npos) return text;
    const std::size_t begin = scheme + 3;
    // A '?' may be of a password, too; then there is an '@' behind it.
    const std::size_t at = text.rfind('@');
    const std::size_t question = std::min(text.find('?', begin), text.size());
    const std::string_view all = text;
    const bool is_of_password =
        at != std::string::npos && at > question && text.find('=', question) > at && text.find(':', begin) < question;
    const std::size_t end = is_of_password ? std::min(text.find('?', at), text.size()) : question;
    std::string out = text.substr(0, begin) + place_without_password(all.substr(begin, end - begin));
    if (end < text.size()) out += "?" + parameters_without_passwords(all.substr(end + 1));
    return out;
}

Listing settings_of(const std::vector<ConfigValue>& values, bool with_origin) {
    Listing listing{"settings", {"SETTING", "VALUE", {"ORIGIN", !with_origin}}};
    for (const ConfigValue& setting : values) {
        const std::string origin = setting.place.empty() ? "default" : setting.place;
        const Cell value = cell_of(setting);
        listing.rows.push_back({setting.key, value, origin});
        listing.items.push_back(codec::setting_item(setting.key, value.value, origin));
    }
    return listing;
}

}  // namespace zbs::listing
