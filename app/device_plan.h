#pragma once

#include "plan/methods.h"
#include "plan_common.h"

namespace weir::app {

// `weir plan` with --devices: makes a schedule, or checks one.
void make_on_devices(const PlanArguments& arguments, const plan::MethodEntry& method,
                     int& exit_code);
void check_on_devices(const PlanArguments& arguments, int& exit_code);

}  // namespace weir::app
