#pragma once

#include <signal.h>

namespace weir::libtorch {

using SetHandler = int (*)(int signal, const struct sigaction* wanted, struct sigaction* before);

// From the first call on, an access to memory whose bytes are away brings them back.
void catch_faults();

// Puts our handler in front of one that was set since.
void stay_in_front();

// Where `sigaction` is wrapped, so that handlers of others are chained behind ours: the system's
// own one, before the first call of catch_faults(); and what the wrapper calls for SIGSEGV after
// it.
void use_to_set_handlers(SetHandler function);
void chain_behind(const struct sigaction* wanted, struct sigaction* before);

}  // namespace weir::libtorch
