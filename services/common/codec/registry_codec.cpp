#include <cmath>

#include "services/common/codec/json/words.hpp"
#include "services/common/codec/message_codec.hpp"

namespace zbs::codec {
namespace {

/// http(s)://host[:port], nothing behind: what a zone may register as its address.
std::string read_url(JsonReader& in, const char* key) {
    std::string url = in.text(key, 512);
    if (!in.ok()) return url;
    std::string_view rest = url;
    if (rest.starts_with("https://")) {
        rest.remove_prefix(8);
    } else if (rest.starts_with("http://")) {
        rest.remove_prefix(7);
    } else {
        return in.fail(key, "must start with http:// or https://"), std::string{};
    }
    if (rest.empty() || rest.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]") !=
                            std::string_view::npos) {
        return in.fail(key, "must be scheme://host:port and nothing behind"), std::string{};
    }
    return url;
}

std::optional<PeeringState> read_direction(JsonReader& in, const char* key) {
    const std::string word = in.text(key, 64);
    if (word == direction_word(std::nullopt)) return std::nullopt;
    for (const PeeringState state : kPeeringStates) {
        if (word == to_string(state)) return state;
    }
    in.fail(key, "must be one of none requested accepted rejected suspended");
    return std::nullopt;
}

}  // namespace

Json encode(const ZoneEntry& entry) {
    return {{"name", entry.name},
            {"organisation", entry.organisation},
            {"contact", entry.contact},
            {"url", entry.url},
            {"categories", entry.categories},
            {"interface_version", entry.interface_version},
            {"lease_s", to_seconds(entry.lease)},
            {"standing", to_string(entry.standing)},
            {"issued_us", to_microseconds(entry.issued)},
            {"bundle", entry.bundle}};
}

Result<ZoneEntry> decode_zone_entry(const Json& json, const std::string& pointer) {
    JsonReader in(json, pointer);
    ZoneEntry entry;
    entry.name = read_name(in, "name");
    entry.organisation = read_name(in, "organisation");
    entry.contact = in.text("contact", 256);
    entry.url = read_url(in, "url");
    entry.categories = in.texts("categories", 32, 2048);
    entry.interface_version = static_cast<int>(in.integer("interface_version", 1, 1'000));
    entry.lease = in.seconds("lease_s", 3600);
    entry.standing = read_word(in, "standing", kZoneStandings);
    entry.issued = time_from_microseconds(in.integer("issued_us", 0, INT64_MAX));
    entry.bundle = in.text("bundle", limits::kMaxBundleBytes);
    return in.finish(std::move(entry));
}

Json encode(const SignedText& text) {
    return {{"text", text.text}, {"chain", text.chain}, {"signature", text.signature}};
}

Result<SignedText> decode_signed_text(const Json& json, const std::string& pointer) {
    JsonReader in(json, pointer);
    SignedText text{in.text("text", limits::kMaxSignedTextBytes), in.text("chain", limits::kMaxChainBytes),
                    in.text("signature", limits::kMaxSignatureBytes)};
    return in.finish(std::move(text));
}

Json encode(const ZonePage& page) {
    Json zones = Json::array();
    for (const SignedText& entry : page.entries) zones.push_back(encode(entry));
    Json json = {{"zones", std::move(zones)}};
    if (!page.next.empty()) json["next"] = page.next;
    if (page.left.empty()) return json;
    json["left_s"] = Json::array();
    for (const Duration left : page.left) json["left_s"].push_back(to_seconds(left));
    return json;
}

Result<ZonePage> decode_zone_page(const Json& json) {
    JsonReader in(json);
    const Json& zones = in.array("zones", limits::kMaxZonesPerPage);
    ZonePage page;
    for (std::size_t i = 0; i < zones.size() && in.ok(); ++i) {
        Result<SignedText> entry = decode_signed_text(zones[i], in.pointer_of("zones/" + std::to_string(i)));
        if (!entry) return entry.error();
        page.entries.push_back(*std::move(entry));
    }
    if (in.has("next")) page.next = read_name(in, "next");
    if (in.has("left_s")) {
        for (const Json& left : in.array("left_s", limits::kMaxZonesPerPage)) {
            const bool is_good = left.is_number() && left.get<double>() >= 0 && left.get<double>() <= 3'600;
            if (!is_good) in.fail("left_s", "must be seconds, 0 to 3600");
            page.left.push_back(is_good ? seconds_to_duration(left.get<double>()) : Duration{});
        }
        if (in.ok() && page.left.size() != page.entries.size()) in.fail("left_s", "must be as many as there are zones");
    }
    return in.finish(std::move(page));
}

Json encode(const EntryOffer& offer) {
    Json json = {{"entry", encode(offer.entry)}};
    if (!offer.code.empty()) json["code"] = offer.code;
    return json;
}

Result<EntryOffer> decode_entry_offer(const Json& json) {
    JsonReader in(json);
    EntryOffer offer{in.text_or("code", "", 64), {}};
    Result<SignedText> entry = decode_signed_text(in.object("entry"), in.pointer_of("entry"));
    if (!in.ok()) return in.error();
    if (!entry) return entry.error();
    offer.entry = *std::move(entry);
    return in.finish(std::move(offer));
}

Json encode(const RivalClaim& rival) {
    return {{"zone", rival.zone}, {"url", rival.url}, {"age_s", to_seconds(rival.age)}};
}

Json encode(const ZoneLease& lease) {
    Json json = {{"zone", lease.zone}, {"lease_s", to_seconds(lease.lease)}};
    if (lease.rival) json["rival"] = encode(*lease.rival);
    return json;
}

Result<ZoneLease> decode_zone_lease(const Json& json) {
    JsonReader in(json);
    ZoneLease lease{read_name(in, "zone"), in.seconds("lease_s", 3'600)};
    if (in.has("rival")) {
        JsonReader claim(in.object("rival"), in.pointer_of("rival"));
        Result<RivalClaim> rival =
            claim.finish(RivalClaim{claim.text("zone", 256), read_url(claim, "url"), claim.seconds("age_s", 3'600)});
        if (!rival) return rival.error();
        lease.rival = *std::move(rival);
    }
    return in.finish(std::move(lease));
}

Json encode(const EnrolledZone& zone) {
    return {{"name", zone.name},
            {"organisation", zone.organisation},
            {"entry", encode(zone.entry)},
            {"lease_s", to_seconds(zone.lease)}};
}

Result<EnrolledZone> decode_enrolled_zone(const Json& json) {
    JsonReader in(json);
    EnrolledZone zone{read_name(in, "name"), read_name(in, "organisation"), {}, in.seconds("lease_s", 3'600)};
    Result<SignedText> entry = decode_signed_text(in.object("entry"), in.pointer_of("entry"));
    if (!in.ok()) return in.error();
    if (!entry) return entry.error();
    zone.entry = *std::move(entry);
    return in.finish(std::move(zone));
}

Json encode(const EnrolmentRight& right) {
    return {{"code_hash", right.code_hash},
            {"organisation", right.organisation},
            {"expires_us", to_microseconds(right.expires)},
            {"used_by", right.used_by}};
}

Result<EnrolmentRight> decode_enrolment_right(const Json& json) {
    JsonReader in(json);
    EnrolmentRight right{in.text("code_hash", 64), in.text("organisation", 64),
                         time_from_microseconds(in.integer("expires_us", 0, INT64_MAX)), in.text("used_by", 256)};
    return in.finish(std::move(right));
}

Json encode(const PeeringRequest& request) {
    Json json = {{"zone", request.zone},
                 {"organisation", request.organisation},
                 {"url", request.url},
                 {"interface_version", request.interface_version}};
    if (!request.bundle.empty()) {
        json["bundle"] = request.bundle;
        json["at_us"] = to_microseconds(request.at);
        json["chain"] = request.chain;
        json["signature"] = request.signature;
    }
    return json;
}

Result<PeeringRequest> decode_peering_request(const Json& json) {
    JsonReader in(json);
    PeeringRequest request{read_name(in, "zone"), read_name(in, "organisation"), read_url(in, "url"),
                           static_cast<int>(in.integer("interface_version", 1, 1'000))};
    if (in.has("bundle")) {
        request.bundle = in.text("bundle", limits::kMaxBundleBytes);
        request.at = time_from_microseconds(in.integer("at_us", 0, INT64_MAX));
        request.chain = in.text("chain", limits::kMaxChainBytes);
        request.signature = in.text("signature", limits::kMaxSignatureBytes);
    }
    return in.finish(std::move(request));
}

Json encode(const PeeringAnswer& answer) {
    return {{"zone", answer.zone},
            {"organisation", answer.organisation},
            {"state", to_string(answer.state)},
            {"reason", bounded(answer.reason, JsonReader::kMaxText)}};
}

Result<PeeringAnswer> decode_peering_answer(const Json& json) {
    JsonReader in(json);
    PeeringAnswer answer{read_name(in, "zone"), read_name(in, "organisation"), read_word(in, "state", kPeeringStates),
                         in.text("reason")};
    return in.finish(std::move(answer));
}

Json encode(const PeerCondition& condition) {
    return {{"state", to_string(condition.state)},
            {"age_s", to_seconds(condition.age)},
            {"clock_ahead_s", to_seconds(condition.clock_ahead)}};
}

Result<PeerCondition> decode_peer_condition(const Json& json, const std::string& pointer) {
    JsonReader in(json, pointer);
    const PeerState state = read_word(in, "state", kPeerStates);
    constexpr double kMost = 1e11;
    const Duration age = in.seconds("age_s", kMost);
    const auto ahead =
        Duration{static_cast<std::int64_t>(std::llround(in.number("clock_ahead_s", -kMost, kMost) * 1e6))};
    return in.finish(PeerCondition{state, age, ahead});
}

Json encode(const Peer& peer) {
    Json json = {{"zone", peer.zone},
                 {"organisation", peer.organisation},
                 {"url", peer.url},
                 {"they_accept_us", direction_word(peer.they_accept_us)},
                 {"we_accept_them", direction_word(peer.we_accept_them)},
                 {"reason", bounded(peer.reason, JsonReader::kMaxText)},
                 {"last_heard_us", to_microseconds(peer.last_heard)}};
    if (peer.leased_until) json["leased_until_us"] = to_microseconds(*peer.leased_until);
    if (peer.condition) json["condition"] = encode(*peer.condition);
    return json;
}

Result<Peer> decode_peer(const Json& json) {
    JsonReader in(json);
    Peer peer{read_name(in, "zone"),
              read_name(in, "organisation"),
              read_url(in, "url"),
              read_direction(in, "they_accept_us"),
              read_direction(in, "we_accept_them"),
              in.text("reason"),
              time_from_microseconds(in.integer("last_heard_us", 0, INT64_MAX))};
    if (in.has("leased_until_us"))
        peer.leased_until = time_from_microseconds(in.integer("leased_until_us", 0, INT64_MAX));
    if (in.has("condition")) {
        Result<PeerCondition> condition = decode_peer_condition(in.object("condition"), in.pointer_of("condition"));
        if (!condition) return condition.error();
        peer.condition = *condition;
    }
    return in.finish(std::move(peer));
}

}  // namespace zbs::codec
