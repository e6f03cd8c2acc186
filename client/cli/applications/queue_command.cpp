#include <CLI/CLI.hpp>
#include <iostream>

#include "algorithms/queue/queue_log.hpp"
#include "client/cli/context.hpp"
#include "client/cli/document_codec.hpp"
#include "client/cli/input.hpp"
#include "services/common/codec/records/queue_log_codec.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::cli {
namespace {

void replay_queue(Context& context, const std::string& path) {
    if (!settle_document_output(context, false)) return;
    const Result<std::string> text = read_all(path, limits::kMaxQueueLogBytes);
    if (!text) return context.fail(text.error());
    const Result<std::vector<QueueEvent>> log = codec::read_queue_log(*text);
    if (!log) return context.fail({log.error().code, path + ", " + log.error().message, log.error().pointer});
    const Result<QueueReplay> done = replay(*log);
    if (!done) return context.fail({done.error().code, path + ", " + done.error().message, {}});
    const bool is_cut = !text->empty() && text->back() != '\n';
    if (done->decisions == 0)
        return context.fail(invalid("nothing was compared: the log has " + counted(log->size(), "whole event") +
                                        " and no decision" + (is_cut ? ", and its last line is cut off" : "") +
                                        "; give the file that the zone's 'queue_log' names",
                                    path));
    if (is_cut) std::cerr << "zbs: warning: the last line of the log is cut off and was not compared\n";
    const bool same = !done->first_difference;
    if (!context.for_people()) {
        print_document(context, encode(*done, *log));
    } else if (same) {
        std::cout << counted(done->decisions, "decision") << " over " << counted(done->starts, "start")
                  << ": the simulator's code decides as the zone did\n";
    } else {
        const EncodedDecisions both = encode(*done->first_difference, *log);
        std::cout << "event " << done->first_difference->event + 1 << ": the zone decided otherwise\nzone    "
                  << codec::dump(both.logged) << "\nreplay  " << codec::dump(both.replayed) << "\n";
    }
    if (!same) context.exit_code = kFailed;
}

}  // namespace

void add_queue_command(CLI::App& app, Context& context) {
    CLI::App* queue = app.add_subcommand("queue", "the log of a zone's queue\n\nExample: zbs queue replay queue.jsonl");
    queue->require_subcommand(1);
    CLI::App* again = queue->add_subcommand(
        "replay",
        "repeat all decisions of a zone's log ('queue_log' in its "
        "configuration), and compare; exit code 1 where a "
        "decision is another\n\nExample: zbs queue replay queue.jsonl\nExample: zbs queue replay queue.jsonl -o json");
    auto path = std::make_shared<std::string>();
    again->add_option("log", *path, "the log, plain or gzip; - is standard input")->required();
    again->callback([&context, path] { replay_queue(context, *path); });
}

}  // namespace zbs::cli
