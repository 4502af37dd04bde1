#include "weir/errors.h"

namespace weir {

OutOfBudget::OutOfBudget(Bytes need_bytes, Bytes budget_bytes, Bytes held_bytes)
    : std::runtime_error("out of budget: " + std::to_string(need_bytes.n) + " bytes are needed, " +
                         std::to_string(held_bytes.n) + " of " + std::to_string(budget_bytes.n) +
                         " are held and cannot be reclaimed; the smallest budget for this is " +
                         std::to_string(held_bytes.n + need_bytes.n) + " bytes"),
      need{need_bytes},
      budget{budget_bytes},
      held{held_bytes} {}

}  // namespace weir
