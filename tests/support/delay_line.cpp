// Carries IP packets between TUN devices, each pair with its own one-way delay, rate and queue, as routers and lines
// between sites do.
//
//   delay_line ADDRESS=FD...    one word a host: its IPv4 address and the open TUN device it is reached by; at most 16
//
// Commands come on standard input, one a line; each is answered by one line on standard output ("error: ..." where it
// is wrong):
//   link FROM TO DELAY_US RATE QUEUE   hosts by their place on the command line; rate in bytes/s of IP packets, 0 for
//   no bound;
//                                      queue in bytes that may wait for the line, beyond which packets are dropped;
//                                      answer: ok
//   cut FROM TO                        nothing is carried from now on; answer: ok. So it is at the start, for all
//   pairs. stats FROM TO                      answer: CARRIED PACKETS, THEIR BYTES, DROPPED PACKETS
// Ends with standard input. Order is kept within a pair. What is delayed waits here without bound: delay x rate bytes
// for each pair.
#include <fcntl.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Nanoseconds = std::chrono::nanoseconds;
using Instant = std::chrono::time_point<Clock, Nanoseconds>;

constexpr std::size_t kMaxHosts = 16, kLargestPacket = 65'536, kLongestCommand = 4'096;
constexpr int kPacketsATurn = 64;  // of one host, before others have their turn
constexpr std::int64_t kMaxDelayUs = 60'000'000, kMaxRate = 100'000'000'000, kMaxQueue = 1'000'000'000;

struct Packet {
    Instant departure;
    std::string bytes;
};

/// One way between two hosts: a queue before a line of `rate`, and the way itself, which takes `delay`.
struct Link {
    bool open = false;
    Nanoseconds delay{};
    double rate = 0;         // bytes/s; 0: no bound
    double queue_bytes = 0;  // that may wait for the line
    Instant free_at{};       // when the line has sent what is queued
    std::deque<Packet> under_way;
    std::uint64_t packets = 0, bytes = 0, dropped = 0;

    void accept(std::string_view packet, Instant now) {
        if (!open) {
            ++dropped;
            return;
        }
        Instant sent = now;
        if (rate > 0) {
            const Instant begin = std::max(free_at, now);
            const double waiting = std::chrono::duration<double>(begin - now).count() * rate;
            if (waiting + static_cast<double>(packet.size()) > queue_bytes) {
                ++dropped;
                return;
            }
            const std::chrono::duration<double> sending(static_cast<double>(packet.size()) / rate);
            sent = free_at = begin + std::chrono::duration_cast<Nanoseconds>(sending);
        }
        Instant departure = sent + delay;
        if (!under_way.empty())
            departure = std::max(departure, under_way.back().departure);  // after a shorter delay was set
        under_way.push_back({departure, std::string(packet)});
    }
};

struct Host {
    std::uint32_t address = 0;  // in network order, as in the packets
    int tun = -1;
};

template <typename Number>
bool read_number(std::string_view text, Number& number) {
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    return fault == std::errc{} && end == text.data() + text.size();
}

std::optional<std::uint32_t> read_address(std::string_view text) {
    std::array<unsigned char, 4> parts{};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::size_t dot = i + 1 < parts.size() ? text.find('.') : text.size();
        if (dot == std::string_view::npos || !read_number(text.substr(0, dot), parts[i])) return std::nullopt;
        text.remove_prefix(std::min(dot + 1, text.size()));
    }
    std::uint32_t address = 0;
    std::memcpy(&address, parts.data(), sizeof address);
    return address;
}

class Line {
  public:
    explicit Line(std::vector<Host> hosts) : hosts_(std::move(hosts)), links_(hosts_.size() * hosts_.size()) {}

    /// Watches all descriptors; what hinders, or nothing.
    std::string add_to_poll() {
        poll_ = epoll_create1(EPOLL_CLOEXEC);
        timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
        if (poll_ < 0 || timer_ < 0) return "no epoll or timer";
        std::vector<int> watched = {STDIN_FILENO, timer_};
        for (const Host& host : hosts_) watched.push_back(host.tun);
        for (const int fd : watched) {
            if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0)
                return "descriptor " + std::to_string(fd) + " is not open";
            epoll_event event{};
            event.events = EPOLLIN;
            event.data.fd = fd;
            if (epoll_ctl(poll_, EPOLL_CTL_ADD, fd, &event) != 0)
                return "descriptor " + std::to_string(fd) + " cannot be waited for: " + std::strerror(errno);
        }
        return {};
    }

    void run() {
        std::array<epoll_event, kMaxHosts + 2> events{};
        while (!over_) {
            const int ready = epoll_wait(poll_, events.data(), static_cast<int>(events.size()), -1);
            if (ready < 0 && errno != EINTR) return;
            for (int i = 0; i < ready; ++i) {
                const int fd = events[static_cast<std::size_t>(i)].data.fd;
                if (fd == STDIN_FILENO)
                    read_commands();
                else if (fd != timer_)
                    read_packets(fd);
            }
            deliver();
        }
    }

  private:
    Link& link(std::size_t from, std::size_t to) { return links_[from * hosts_.size() + to]; }

    void read_packets(int tun) {
        const auto from =
            std::find_if(hosts_.begin(), hosts_.end(), [tun](const Host& host) { return host.tun == tun; }) -
            hosts_.begin();
        for (int i = 0; i < kPacketsATurn; ++i) {
            const ssize_t size = read(tun, buffer_.data(), buffer_.size());
            if (size <= 0) return;
            if (size < 20 || static_cast<unsigned char>(buffer_[0]) >> 4 != 4) continue;  // no IPv4
            std::uint32_t target = 0;
            std::memcpy(&target, buffer_.data() + 16, sizeof target);
            const auto to = std::find_if(hosts_.begin(), hosts_.end(),
                                         [target](const Host& host) { return host.address == target; });
            if (to == hosts_.end()) continue;
            link(static_cast<std::size_t>(from), static_cast<std::size_t>(to - hosts_.begin()))
                .accept({buffer_.data(), static_cast<std::size_t>(size)}, Clock::now());
        }
    }

    /// Sends what is due and sets the timer for what is next.
    void deliver() {
        std::optional<Instant> next;
        for (std::size_t i = 0; i < links_.size(); ++i) {
            Link& way = links_[i];
            while (!way.under_way.empty() && way.under_way.front().departure <= Clock::now()) {
                const std::string& bytes = way.under_way.front().bytes;
                if (write(hosts_[i % hosts_.size()].tun, bytes.data(), bytes.size()) ==
                    static_cast<ssize_t>(bytes.size())) {
                    ++way.packets;
                    way.bytes += bytes.size();
                } else {
                    ++way.dropped;
                }
                way.under_way.pop_front();
            }
            if (!way.under_way.empty() && (!next || way.under_way.front().departure < *next))
                next = way.under_way.front().departure;
        }
        itimerspec at{};
        if (next) {
            const std::int64_t since_boot = std::max<std::int64_t>(1, next->time_since_epoch().count());
            at.it_value = {since_boot / 1'000'000'000, since_boot % 1'000'000'000};
        }
        timerfd_settime(timer_, TFD_TIMER_ABSTIME, &at, nullptr);  // Clock is CLOCK_MONOTONIC
    }

    void read_commands() {
        std::array<char, 1024> text{};
        const ssize_t size = read(STDIN_FILENO, text.data(), text.size());
        if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (size <= 0) {
            over_ = true;
            return;
        }
        commands_.append(text.data(), static_cast<std::size_t>(size));
        for (std::size_t end = commands_.find('\n'); end != std::string::npos; end = commands_.find('\n')) {
            const std::string answer = obey(commands_.substr(0, end)) + "\n";
            commands_.erase(0, end + 1);
            if (write(STDOUT_FILENO, answer.data(), answer.size()) != static_cast<ssize_t>(answer.size())) over_ = true;
        }
        if (commands_.size() > kLongestCommand) over_ = true;
    }

    std::string obey(const std::string& command) {
        std::istringstream in(command);
        const std::vector<std::string> words{std::istream_iterator<std::string>(in), {}};
        std::size_t from = 0, to = 0;
        if (words.size() < 3 || !read_number(words[1], from) || !read_number(words[2], to) || from >= hosts_.size() ||
            to >= hosts_.size())
            return "error: '" + command + "' is no command; write link|cut|stats FROM TO ... with hosts from 0 to " +
                   std::to_string(hosts_.size() - 1);
        Link& way = link(from, to);
        if (words[0] == "stats" && words.size() == 3)
            return std::to_string(way.packets) + " " + std::to_string(way.bytes) + " " + std::to_string(way.dropped);
        if (words[0] == "cut" && words.size() == 3) {
            way.open = false;
            way.under_way.clear();
            return "ok";
        }
        std::int64_t delay_us = 0, rate = 0, queue = 0;
        if (words[0] != "link" || words.size() != 6 || !read_number(words[3], delay_us) ||
            !read_number(words[4], rate) || !read_number(words[5], queue))
            return "error: '" + command +
                   "' is no command; write link FROM TO DELAY_US RATE QUEUE, cut FROM TO or stats FROM TO";
        if (delay_us < 0 || delay_us > kMaxDelayUs || rate < 0 || rate > kMaxRate || queue < 0 || queue > kMaxQueue)
            return "error: '" + command + "': delay up to " + std::to_string(kMaxDelayUs) + " us, rate up to " +
                   std::to_string(kMaxRate) + " bytes/s, queue up to " + std::to_string(kMaxQueue) + " bytes";
        way.open = true;
        way.delay = std::chrono::microseconds(delay_us);
        way.rate = static_cast<double>(rate);
        way.queue_bytes = static_cast<double>(queue);
        way.free_at = {};
        return "ok";
    }

    std::vector<Host> hosts_;
    std::vector<Link> links_;
    std::vector<char> buffer_ = std::vector<char>(kLargestPacket);
    std::string commands_;
    int poll_ = -1, timer_ = -1;
    bool over_ = false;
};

int refuse(const std::string& why) {
    std::fprintf(stderr, "delay_line: %s\nusage: delay_line ADDRESS=FD...\n", why.c_str());
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<Host> hosts;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        const std::size_t equals = word.find('=');
        Host host;
        const auto address = equals == std::string_view::npos ? std::nullopt : read_address(word.substr(0, equals));
        if (!address || !read_number(word.substr(equals + 1), host.tun))
            return refuse("'" + std::string(word) + "' is not ADDRESS=FD");
        host.address = *address;
        hosts.push_back(host);
    }
    if (hosts.size() < 2 || hosts.size() > kMaxHosts)
        return refuse("2 to " + std::to_string(kMaxHosts) + " hosts are needed");
    // Whoever computes on this machine must not make the line slower. Without the right to it the line does what it
    // can.
    sched_param before_others{};
    before_others.sched_priority = 1;
    (void)sched_setscheduler(0, SCHED_FIFO, &before_others);
    Line line(std::move(hosts));
    if (const std::string fault = line.add_to_poll(); !fault.empty()) return refuse(fault);
    std::puts("ready");
    std::fflush(stdout);
    line.run();
    return 0;
}
