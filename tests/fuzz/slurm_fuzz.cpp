#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "services/common/messages/limits.hpp"
#include "services/zone_scheduler/adapters/slurm/answers.hpp"
#include "services/zone_scheduler/adapters/slurm/host_list.hpp"
#include "tests/fuzz/mutation.hpp"

// Any bytes as what a command of Slurm printed: refused with a message, or values within their bounds; a list of nodes
// is written and read back the same.

namespace {
using namespace zbs;
using namespace zbs::slurm;

std::uint64_t accepted = 0, refused = 0;

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "slurm_fuzz: broken: %s\n", what);
    std::abort();
}

template <class T, class Check>
void check(const Result<T>& result, Check holds) {
    if (result) {
        ++accepted;
        holds(*result);
        return;
    }
    ++refused;
    require(!result.error().message.empty(), "a refusal without message");
}

bool are_names(const std::vector<std::string>& names) {
    if (names.size() > limits::kMaxSlurmNodes) return false;
    for (const std::string& name : names)
        if (!is_node_name(name)) return false;
    return true;
}

void check_nodes(const std::vector<Node>& nodes) {
    for (const Node& node : nodes)
        require(is_node_name(node.name) && node.processors >= 0 && node.processors <= limits::kMaxNodeProcessors,
                "a node that is none");
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    check(parse_host_list(text), [](const std::vector<std::string>& names) {
        require(are_names(names), "a name that is none");
        if (names.size() > 1'000) return;
        const auto again = parse_host_list(write_host_list(names));
        require(again && *again == names, "names change on the way");
    });
    check(parse_version(text), [](const Version& v) { require(v.major >= 0 && v.minor >= 0, "a negative release"); });
    check(parse_time_limit(text),
          [](const std::optional<Duration>& d) { require(!d || *d >= Duration{0}, "a negative time"); });
    check(parse_settings(text), [](const ClusterSettings& s) {
        require(s.remembers >= Duration{0} && s.kill_wait >= Duration{0}, "a negative time");
    });
    check(parse_partitions(text), [](const std::vector<Partition>& partitions) {
        for (const Partition& p : partitions)
            require(!p.name.empty() && are_names(p.nodes), "a partition that is none");
    });
    check(parse_nodes(text), check_nodes);
    check(parse_nodes_json(text), check_nodes);
    check(parse_jobs(text), [](const std::vector<JobLine>& jobs) {
        for (const JobLine& job : jobs) require(phase_of(job.state) && are_names(job.nodes), "a job that is none");
    });
    check(parse_shares(text, "zbs-a"), [](const std::vector<NodeShare>& shares) {
        for (const NodeShare& share : shares)
            require(is_node_name(share.node) && share.processors > 0 && share.processors <= limits::kMaxNodeProcessors,
                    "a share that is none");
    });
    check(parse_submitted(text), [](std::uint32_t job) { require(job > 0, "no number of a job"); });
    return 0;
}

#ifndef ZBS_LIBFUZZER
int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 20'000;
    const std::vector<std::string> seeds = {
        "n[1-3,07-09],r[0-1]x[2-3]-ib,login",
        "slurm-wlm 22.05.8",
        "7-12:00:00",
        "Configuration data as of x\nClusterName             = zbs\nKillWait                = 30 sec\nMinJobAge        "
        "       = 300 sec\n",
        "PartitionName=main AllocNodes=ALL Default=YES DefaultTime=NONE MaxNodes=4 MaxTime=01:00:00 Nodes=n[1-4] "
        "State=UP TotalCPUs=16\n",
        "n1|4|idle|0/4/0/4|none\nn3|4|down*|0/0/4/4|Not responding\nn4|4|drained|0/0/4/4|disk | failing\n",
        R"({"nodes": [{"name": "n1", "cpus": 4, "alloc_cpus": 4, "state": "idle", "state_flags": ["DRAIN"], "reason": "disk"}, {"name": "n2", "cpus": {"number": 4}, "alloc_cpus": {"number": 2}, "state": ["IDLE"]}]})",
        "27|RUNNING|games|main|1795393715|1795394015|n[1-2]|zbs-op-1|(null)|None|zbs:held\n",
        "JobId=27 JobName=zbs-a UserId=games(5) NodeList=n[1-2] JOB_GRES=(null)   Nodes=n1 CPU_IDs=0-3 Mem=0 GRES=   "
        "Nodes=n[2-3] CPU_IDs=0-1,7 Mem=0 GRES= MinCPUsNode=1",
        "7;cluster\n"};
    const std::vector<std::string> pieces = {"[",
                                             "]",
                                             "-",
                                             ",",
                                             "|",
                                             "=",
                                             "\n",
                                             " ",
                                             "n[0-999999999]",
                                             "[0-999]",
                                             "99999999999999999999",
                                             "UNLIMITED",
                                             "(null)",
                                             " Nodes=n[1-9] CPU_IDs=0-65535 ",
                                             "\"",
                                             "{",
                                             std::string(1, '\0'),
                                             "\xff",
                                             "N/A"};
    Rng rng(8);
    for (int round = 0; round < rounds; ++round) {
        std::string text = seeds[rng.below(seeds.size())];
        fuzz::mutate(text, rng, pieces, 4, 4);
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    }
    require(accepted > static_cast<std::uint64_t>(rounds) / 3, "hardly anything is accepted");
    std::printf("%d texts; %llu readings, %llu refusals\n", rounds, static_cast<unsigned long long>(accepted),
                static_cast<unsigned long long>(refused));
}
#endif
