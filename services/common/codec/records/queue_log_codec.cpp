#include "services/common/codec/records/queue_log_codec.hpp"

#include <utility>

#include "services/common/codec/json/words.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::codec {
namespace {

constexpr std::int64_t kMaxProcessors = 10'000'000;
/// Of all masks of one decision, 32 MiB: a few ranges in the text are millions of processors in memory.
constexpr std::size_t kMaxMaskBits = std::size_t{1} << 28;
constexpr std::int64_t kFarAwayUs = kMaxQueueTime.count();

/// The processors that are in it, as [first, last] pairs.
Json encode_mask(const std::vector<bool>& mask) {
    Json ranges = Json::array();
    for (std::size_t i = 0; i < mask.size();) {
        std::size_t end = i;
        while (end < mask.size() && mask[end]) ++end;
        if (end > i) ranges.push_back({i, end - 1});
        i = end + 1;
    }
    return {{"of", mask.size()}, {"ranges", std::move(ranges)}};
}

Result<std::vector<bool>> decode_mask(JsonReader in) {
    std::vector<bool> mask(static_cast<std::size_t>(in.integer("of", 1, kMaxProcessors)), false);
    const Json& ranges = in.array("ranges", mask.size());
    for (std::size_t i = 0; i < ranges.size() && in.ok(); ++i) {
        const Json& range = ranges[i];
        const bool pair = range.is_array() && range.size() == 2 && range[0].is_number_unsigned() &&
                          range[1].is_number_unsigned() &&
                          range[0].get<std::uint64_t>() <= range[1].get<std::uint64_t>() &&
                          range[1].get<std::uint64_t>() < mask.size();
        if (!pair) {
            in.fail("ranges/" + std::to_string(i), "must be the first and the last of processors that there are");
            break;
        }
        for (std::uint64_t p = range[0].get<std::uint64_t>(); p <= range[1].get<std::uint64_t>(); ++p) mask[p] = true;
    }
    return in.finish(std::move(mask));
}

Json encode_start(Duration start) { return start == kNoStart ? Json(nullptr) : Json(start.count()); }

Duration read_start(JsonReader& in, const char* key) {
    if (in.any(key).is_null()) return kNoStart;
    return Duration{in.integer(key, -kFarAwayUs, kFarAwayUs)};
}
Duration read_steady(JsonReader& in, const char* key) { return Duration{in.integer(key, -kFarAwayUs, kFarAwayUs)}; }

struct Writer {
    Json operator()(const QueueOpened& e) const { return {{"event", "opened"}, {"processors", e.processors}}; }
    Json operator()(const DisciplineChosen& e) const { return {{"event", "discipline"}, {"policy", e.discipline}}; }
    Json operator()(const PartWaits& e) const {
        return {{"event", "waits"},
                {"part", to_string(e.part.id)},
                {"party", e.part.party},
                {"since_us", e.part.since.count()},
                {"processors", e.part.processors},
                {"length_us", e.part.length.count()}};
    }
    Json operator()(const PartLeaves& e) const { return {{"event", "leaves"}, {"part", to_string(e.id)}}; }
    Json operator()(const ProcessorsPromised& e) const {
        return {{"event", "promised"},
                {"part", to_string(e.id)},
                {"party", e.party},
                {"processors", e.promise.processors},
                {"begin_us", e.promise.when.begin.count()},
                {"end_us", e.promise.when.end.count()},
                {"expected_end_us", e.promise.expected_end.count()},
                {"at_us", e.at.count()}};
    }
    Json operator()(const PromiseEnded& e) const {
        return {{"event", "ended"}, {"part", to_string(e.id)}, {"at_us", e.at.count()}};
    }
    Json operator()(const WeightSet& e) const {
        return {{"event", "weight"}, {"party", e.party}, {"weight", e.weight}};
    }
    Json operator()(const Decided& e) const {
        Json usable = Json::object();
        for (const auto& [id, mask] : e.usable) usable[to_string(id)] = encode_mask(mask);
        Json starts = Json::array(), outlooks = Json::array();
        for (const PartId& id : e.decision.starts) starts.push_back(to_string(id));
        for (const Outlook& outlook : e.decision.outlooks)
            outlooks.push_back({{"part", to_string(outlook.id)},
                                {"place", outlook.place},
                                {"start_us", encode_start(outlook.start)},
                                {"promised_us", encode_start(outlook.promised)},
                                {"waits_for", to_string(outlook.reason)}});
        return {{"event", "decided"},
                {"at_us", e.at.count()},
                {"usable", std::move(usable)},
                {"starts", std::move(starts)},
                {"outlooks", std::move(outlooks)}};
    }
    Json operator()(const QueueContinued& e) const {
        Json promised = Json::array();
        for (const auto& [id, start] : e.promised)
            promised.push_back({{"part", to_string(id)}, {"start_us", start.count()}});
        return {{"event", "continued"}, {"at_us", e.at.count()}, {"used", e.used}, {"promised", std::move(promised)}};
    }
};

Result<QueueEvent> read_promised(JsonReader& in) {
    ProcessorsPromised event{read_id<PartId>(in, "part"), in.text("party", 256), {}, read_steady(in, "at_us")};
    const Json& processors = in.array("processors", kMaxProcessors);
    for (std::size_t i = 0; i < processors.size() && in.ok(); ++i) {
        if (!processors[i].is_number_unsigned() || processors[i].get<std::uint64_t>() >= kMaxProcessors)
            in.fail("processors/" + std::to_string(i), "must be a processor's number");
        else
            event.promise.processors.push_back(processors[i].get<std::int32_t>());
    }
    event.promise.when = {read_steady(in, "begin_us"), read_steady(in, "end_us")};
    event.promise.expected_end = read_steady(in, "expected_end_us");
    if (in.ok() && event.promise.when.end < event.promise.when.begin) in.fail("end_us", "is before begin_us");
    return in.finish(QueueEvent(std::move(event)));
}

Result<QueueEvent> read_decided(JsonReader& in) {
    Decided event{.at = read_steady(in, "at_us")};
    const Json& usable = in.object("usable");
    if (!in.ok()) return in.error();
    std::size_t bits = 0;
    for (auto it = usable.begin(); it != usable.end(); ++it) {
        const auto id = parse_id128(it.key());
        if (!id) {
            in.fail("usable", "has a key that is no part's id");
            return in.error();
        }
        Result<std::vector<bool>> mask =
            decode_mask(JsonReader(it.value(), in.pointer_of("usable/" + pointer_step(it.key()))));
        if (!mask) return mask.error();
        bits += mask->size();
        if (bits > kMaxMaskBits) {
            in.fail("usable", "is of more processors than one decision can be of");
            return in.error();
        }
        event.usable.emplace(PartId{*id}, *std::move(mask));
    }
    const Json& starts = in.array("starts", limits::kMaxPartsInQueue);
    for (std::size_t i = 0; i < starts.size() && in.ok(); ++i) {
        const auto id = starts[i].is_string() ? parse_id128(starts[i].get<std::string>()) : std::nullopt;
        if (id)
            event.decision.starts.push_back(PartId{*id});
        else
            in.fail("starts/" + std::to_string(i), "must be a part's id");
    }
    const Json& outlooks = in.array("outlooks", limits::kMaxPartsInQueue);
    for (std::size_t i = 0; i < outlooks.size() && in.ok(); ++i) {
        JsonReader o(outlooks[i], in.pointer_of("outlooks/" + std::to_string(i)));
        Outlook outlook{.id = read_id<PartId>(o, "part"),
                        .place = static_cast<std::size_t>(o.integer("place", 1, limits::kMaxPartsInQueue)),
                        .start = read_start(o, "start_us"),
                        .promised = read_start(o, "promised_us"),
                        .reason = read_word<WaitsFor>(o, "waits_for")};
        Result<Outlook> done = o.finish(outlook);
        if (!done) return done.error();
        event.decision.outlooks.push_back(*done);
    }
    return in.finish(QueueEvent(std::move(event)));
}

Result<QueueEvent> read_continued(JsonReader& in) {
    QueueContinued event{.at = read_steady(in, "at_us"), .used = {}, .promised = {}};
    const Json& used = in.object("used");
    for (auto it = used.begin(); it != used.end() && in.ok(); ++it) {
        const bool good = it.key().size() <= 256 && it.value().is_number() && it.value().get<double>() >= 0;
        if (good)
            event.used.emplace(it.key(), it.value().get<double>());
        else
            in.fail("used/" + pointer_step(it.key()), "must be processors times seconds, 0 or more");
    }
    const Json& promised = in.array("promised", limits::kMaxPartsInQueue);
    for (std::size_t i = 0; i < promised.size() && in.ok(); ++i) {
        JsonReader one(promised[i], in.pointer_of("promised/" + std::to_string(i)));
        const PartId id = read_id<PartId>(one, "part");
        const Result<Duration> start = one.finish(read_steady(one, "start_us"));
        if (!start) return start.error();
        event.promised.emplace_back(id, *start);
    }
    return in.finish(QueueEvent(std::move(event)));
}

}  // namespace

Json encode(const QueueEvent& event) { return std::visit(Writer{}, event); }

Result<QueueEvent> decode_queue_event(const Json& json) {
    JsonReader in(json);
    const std::string kind = in.text("event", 32);
    if (!in.ok()) return in.error();
    if (kind == "opened")
        return in.finish(
            QueueEvent(QueueOpened{static_cast<std::int32_t>(in.integer("processors", 1, kMaxProcessors))}));
    if (kind == "discipline") return in.finish(QueueEvent(DisciplineChosen{in.text("policy", 1024)}));
    if (kind == "waits") {
        WaitingPart part{.id = read_id<PartId>(in, "part"),
                         .party = in.text("party", 256),
                         .since = read_steady(in, "since_us"),
                         .processors = static_cast<std::int32_t>(in.integer("processors", 1, kMaxProcessors)),
                         .length = Duration{in.integer("length_us", 1, kFarAwayUs)}};
        return in.finish(QueueEvent(PartWaits{std::move(part)}));
    }
    if (kind == "leaves") return in.finish(QueueEvent(PartLeaves{read_id<PartId>(in, "part")}));
    if (kind == "promised") return read_promised(in);
    if (kind == "ended")
        return in.finish(QueueEvent(PromiseEnded{read_id<PartId>(in, "part"), read_steady(in, "at_us")}));
    if (kind == "weight")
        return in.finish(QueueEvent(WeightSet{in.text("party", 256), in.number("weight", 1e-9, 1e9)}));
    if (kind == "decided") return read_decided(in);
    if (kind == "continued") return read_continued(in);
    in.fail("event",
            one_of({"continued", "opened", "discipline", "waits", "leaves", "promised", "ended", "weight", "decided"}));
    return in.error();
}

Result<std::vector<QueueEvent>> read_queue_log(std::string_view text) {
    if (text.size() > limits::kMaxQueueLogBytes)
        return Error{
            ErrorCode::kTooLarge,
            "a queue's log may have " + std::to_string(limits::kMaxQueueLogBytes) + " bytes; take a part of it",
            {}};
    std::vector<QueueEvent> events;
    for (std::size_t line = 1; !text.empty(); ++line) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) break;  // unfinished
        const auto wrong = [&](const Error& error) {
            return Error{error.code, "line " + std::to_string(line) + ": " + error.message, error.pointer};
        };
        const Result<Json> json = parse(text.substr(0, end));
        if (!json) return wrong(json.error());
        Result<QueueEvent> event = decode_queue_event(*json);
        if (!event) return wrong(event.error());
        events.push_back(*std::move(event));
        text.remove_prefix(end + 1);
    }
    return events;
}

}  // namespace zbs::codec
