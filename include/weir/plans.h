#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

namespace weir {

namespace pilot {
class PlanCache;
}

// Plans of steps, for one run of a program after the other (PolicyInputs::plans). Only one policy
// may use them at a time, and nothing else meanwhile.
class Plans {
 public:
  Plans();  // none yet
  Plans(Plans&&) noexcept;
  Plans& operator=(Plans&&) noexcept;
  ~Plans();

  // Those that were saved; none, if there is no such file. Throws BadInput if it cannot be read, is
  // damaged, or is something else.
  [[nodiscard]] static Plans load(const std::filesystem::path& file);
  // Whoever looks sees the old file or the whole new one. Throws BadInput if it cannot be written.
  void save(const std::filesystem::path& file) const;

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] pilot::PlanCache& cache() { return *cache_; }

 private:
  std::unique_ptr<pilot::PlanCache> cache_;
};

}  // namespace weir
