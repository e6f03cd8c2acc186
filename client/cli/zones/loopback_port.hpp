#pragma once
#include <utility>

#include "algorithms/base/result.hpp"
#include "services/common/adapters/descriptor/descriptor.hpp"

namespace zbs::cli {

/// A TCP port of 127.0.0.1 on which nobody listens, for a service that is about to start. It lies below the ports that
/// the kernel gives to outgoing connections, and no other LoopbackPort of this host (of any user) has it while this
/// lives: a socket in Linux' abstract namespace, "zbs-port-NUMBER", marks it, and the kernel removes it with its
/// process.
class LoopbackPort {
  public:
    /// Any of those from 10,000 up to where the kernel's begin. Errors: kUnavailable where none of them is free.
    static Result<LoopbackPort> take();
    /// Any of `first` ... `last`.
    static Result<LoopbackPort> take(int first, int last);
    int number() const { return number_; }

  private:
    LoopbackPort(Descriptor mark, int number) : mark_(std::move(mark)), number_(number) {}
    Descriptor mark_;
    int number_;
};

}  // namespace zbs::cli
