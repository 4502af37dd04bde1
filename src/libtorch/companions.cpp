#include "libtorch/companions.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include <c10/core/CPUAllocator.h>

namespace weir::libtorch {

namespace {

namespace fs = std::filesystem;

std::string file_of(const void* symbol) {
  Dl_info info{};
  return dladdr(symbol, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

// The tables that the system keeps of a library it has loaded. Addresses in them are relocated by
// glibc, but not in the one library that the kernel brings.
struct Dynamic {
  const char* strings = nullptr;
  const ElfW(Dyn) * entries = nullptr;

  explicit Dynamic(const dl_phdr_info& library) {
    const auto* end = library.dlpi_phdr + library.dlpi_phnum;
    const auto* part =
        std::find_if(library.dlpi_phdr, end, [](const auto& p) { return p.p_type == PT_DYNAMIC; });
    if (part == end) return;
    entries = reinterpret_cast<const ElfW(Dyn)*>(library.dlpi_addr + part->p_vaddr);
    for (const auto* entry = entries; entry->d_tag != DT_NULL; ++entry)
      if (entry->d_tag == DT_STRTAB && entry->d_un.d_ptr > library.dlpi_addr)
        strings = reinterpret_cast<const char*>(entry->d_un.d_ptr);
  }
};

bool is_torch(std::string_view needed) {
  return needed.starts_with("libc10") || needed.starts_with("libtorch");
}

bool uses_torch(const dl_phdr_info& library) {
  const Dynamic dynamic{library};
  if (dynamic.strings == nullptr) return false;
  for (const auto* entry = dynamic.entries; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_NEEDED && is_torch(dynamic.strings + entry->d_un.d_val)) return true;
  return false;
}

// What is walked through, and what is found on the way.
struct Walk {
  fs::path torch = fs::path{file_of(reinterpret_cast<void*>(&c10::GetCPUAllocator))}.parent_path();
  std::string ours = file_of(reinterpret_cast<void*>(&uses_torch));
  unsigned long long known = 0, loaded = 0;
  std::string found = {};

  // PyTorch's libraries are in one folder, its Python module in the one above.
  [[nodiscard]] bool expected(const std::string& name) const {
    const fs::path path{name}, folder = path.parent_path();
    return name == ours || folder == torch ||
           (folder == torch.parent_path() && path.filename().string().starts_with("_C."));
  }
};

int visit(dl_phdr_info* library, std::size_t /*size*/, void* to) {
  auto& walk = *static_cast<Walk*>(to);
  walk.loaded = library->dlpi_adds;
  if (walk.loaded == walk.known) return 1;
  const std::string name = library->dlpi_name;
  if (!uses_torch(*library) || walk.expected(name)) return 0;
  walk.found = name.empty() ? "the program itself" : name;
  return 1;
}

}  // namespace

const std::string& Companions::find() {
  if (!found_.empty()) return found_;
  Walk walk;
  walk.known = loaded_;
  dl_iterate_phdr(&visit, &walk);
  loaded_ = walk.loaded;
  found_ = std::move(walk.found);
  return found_;
}

}  // namespace weir::libtorch
