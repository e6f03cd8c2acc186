#include <cmath>

#include "services/common/codec/json/fields.hpp"
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

/// Always there: a direction in which nobody has asked yet has a word of its own.
struct DirectionRow {
    const char* key;
    std::optional<PeeringState> Peer::*member;
    void write(Json& json, const Peer& peer) const { json[key] = direction_word(peer.*member); }
    void read(JsonReader& in, Peer& peer) const {
        const std::string word = in.text(key, 64);
        if (word == direction_word(std::nullopt)) return;
        peer.*member = find_word<PeeringState>(word);
        if (!(peer.*member)) in.fail(key, "must be one of none requested accepted rejected suspended");
    }
};

Duration read_difference(JsonReader& in, const char* key) {
    constexpr double kMax = 1e11;
    return Duration{static_cast<std::int64_t>(std::llround(in.number(key, -kMax, kMax) * 1e6))};
}

/// How long each entry still counts, in the order of the entries.
struct LeftRow {
    void write(Json& json, const ZonePage& page) const {
        if (page.left.empty()) return;
        json["left_s"] = Json::array();
        for (const Duration left : page.left) json["left_s"].push_back(to_seconds(left));
    }
    void read(JsonReader& in, ZonePage& page) const {
        if (!in.has("left_s")) return;
        for (const Json& left : in.array("left_s", limits::kMaxZonesPerPage)) {
            const bool is_good = left.is_number() && left.get<double>() >= 0 && left.get<double>() <= 3'600;
            if (!is_good) in.fail("left_s", "must be seconds, 0 to 3600");
            page.left.push_back(is_good ? seconds_to_duration(left.get<double>()) : Duration{});
        }
        if (in.ok() && page.left.size() != page.entries.size()) in.fail("left_s", "must be as many as there are zones");
    }
};

// One field a line.
// clang-format off
constexpr auto kZoneEntry = fields<ZoneEntry>(
    name("name", &ZoneEntry::name),
    name("organisation", &ZoneEntry::organisation),
    text("contact", &ZoneEntry::contact, 256),
    Field{"url", &ZoneEntry::url, kAsIs, read_url},
    texts("categories", &ZoneEntry::categories, limits::kMaxCategories, limits::kMaxCategoriesBytes),
    integer("interface_version", &ZoneEntry::interface_version, 1, 1'000),
    seconds("lease_s", &ZoneEntry::lease, 3'600),
    word("standing", &ZoneEntry::standing),
    time("issued_us", &ZoneEntry::issued),
    text("bundle", &ZoneEntry::bundle, limits::kMaxBundleBytes));

constexpr auto kSignedText = fields<SignedText>(
    text("text", &SignedText::text, limits::kMaxSignedTextBytes),
    text("chain", &SignedText::chain, limits::kMaxChainBytes),
    text("signature", &SignedText::signature, limits::kMaxSignatureBytes));

constexpr auto kZonePage = fields<ZonePage>(
    list("zones", &ZonePage::entries, limits::kMaxZonesPerPage, kSignedText),
    optional(name("next", &ZonePage::next)),
    LeftRow{});

constexpr auto kEntryOffer = fields<EntryOffer>(
    optional(text("code", &EntryOffer::code, 64)),
    nested("entry", &EntryOffer::entry, kSignedText));

constexpr auto kRivalClaim = fields<RivalClaim>(
    text("zone", &RivalClaim::zone, 256),
    Field{"url", &RivalClaim::url, kAsIs, read_url},
    seconds("age_s", &RivalClaim::age, 3'600));

constexpr auto kZoneLease = fields<ZoneLease>(
    name("zone", &ZoneLease::zone),
    seconds("lease_s", &ZoneLease::lease, 3'600),
    nested("rival", &ZoneLease::rival, kRivalClaim));

constexpr auto kEnrolledZone = fields<EnrolledZone>(
    name("name", &EnrolledZone::name),
    name("organisation", &EnrolledZone::organisation),
    seconds("lease_s", &EnrolledZone::lease, 3'600),
    nested("entry", &EnrolledZone::entry, kSignedText));

constexpr auto kEnrolmentRight = fields<EnrolmentRight>(
    text("code_hash", &EnrolmentRight::code_hash, 64),
    text("organisation", &EnrolmentRight::organisation, 64),
    time("expires_us", &EnrolmentRight::expires),
    text("used_by", &EnrolmentRight::used_by, 256));

constexpr auto kPeeringRequest = fields<PeeringRequest>(
    name("zone", &PeeringRequest::zone),
    name("organisation", &PeeringRequest::organisation),
    Field{"url", &PeeringRequest::url, kAsIs, read_url},
    integer("interface_version", &PeeringRequest::interface_version, 1, 1'000));

/// Goes along where one organisation asks another.
constexpr auto kPeeringProof = fields<PeeringRequest>(
    text("bundle", &PeeringRequest::bundle, limits::kMaxBundleBytes),
    time("at_us", &PeeringRequest::at),
    text("chain", &PeeringRequest::chain, limits::kMaxChainBytes),
    text("signature", &PeeringRequest::signature, limits::kMaxSignatureBytes));

constexpr auto kPeeringAnswer = fields<PeeringAnswer>(
    name("zone", &PeeringAnswer::zone),
    name("organisation", &PeeringAnswer::organisation),
    word("state", &PeeringAnswer::state),
    cut_text("reason", &PeeringAnswer::reason));

constexpr auto kPeerCondition = fields<PeerCondition>(
    word("state", &PeerCondition::state),
    seconds("age_s", &PeerCondition::age, 1e11),
    Field{"clock_ahead_s", &PeerCondition::clock_ahead, to_seconds, read_difference});

constexpr auto kPeer = fields<Peer>(
    name("zone", &Peer::zone),
    name("organisation", &Peer::organisation),
    Field{"url", &Peer::url, kAsIs, read_url},
    DirectionRow{"outbound", &Peer::outbound},
    DirectionRow{"inbound", &Peer::inbound},
    cut_text("reason", &Peer::reason),
    time("last_heard_us", &Peer::last_heard),
    time("leased_until_us", &Peer::leased_until),
    nested("condition", &Peer::condition, kPeerCondition),
    texts("categories", &Peer::categories, limits::kMaxCategories, limits::kMaxCategoriesBytes));
// clang-format on

}  // namespace

Json encode(const ZoneEntry& entry) { return kZoneEntry.encode(entry); }
Result<ZoneEntry> decode_zone_entry(const Json& json, const std::string& pointer) {
    return kZoneEntry.decode(json, pointer);
}
Json encode(const SignedText& text) { return kSignedText.encode(text); }
Result<SignedText> decode_signed_text(const Json& json, const std::string& pointer) {
    return kSignedText.decode(json, pointer);
}
Json encode(const ZonePage& page) { return kZonePage.encode(page); }
Result<ZonePage> decode_zone_page(const Json& json) { return kZonePage.decode(json); }
Json encode(const EntryOffer& offer) { return kEntryOffer.encode(offer); }
Result<EntryOffer> decode_entry_offer(const Json& json) { return kEntryOffer.decode(json); }
Json encode(const RivalClaim& rival) { return kRivalClaim.encode(rival); }
Json encode(const ZoneLease& lease) { return kZoneLease.encode(lease); }
Result<ZoneLease> decode_zone_lease(const Json& json) { return kZoneLease.decode(json); }
Json encode(const EnrolledZone& zone) { return kEnrolledZone.encode(zone); }
Result<EnrolledZone> decode_enrolled_zone(const Json& json) { return kEnrolledZone.decode(json); }
Json encode(const EnrolmentRight& right) { return kEnrolmentRight.encode(right); }
Result<EnrolmentRight> decode_enrolment_right(const Json& json) { return kEnrolmentRight.decode(json); }
Json encode(const PeeringAnswer& answer) { return kPeeringAnswer.encode(answer); }
Result<PeeringAnswer> decode_peering_answer(const Json& json) { return kPeeringAnswer.decode(json); }
Json encode(const PeerCondition& condition) { return kPeerCondition.encode(condition); }
Json encode(const Peer& peer) { return kPeer.encode(peer); }
Result<Peer> decode_peer(const Json& json) { return kPeer.decode(json); }

Json encode(const PeeringRequest& request) {
    Json json = kPeeringRequest.encode(request);
    if (!request.bundle.empty()) kPeeringProof.write(json, request);
    return json;
}
Result<PeeringRequest> decode_peering_request(const Json& json) {
    JsonReader in(json);
    PeeringRequest request;
    kPeeringRequest.read(in, request);
    if (in.has("bundle")) kPeeringProof.read(in, request);
    return in.finish(std::move(request));
}

}  // namespace zbs::codec
