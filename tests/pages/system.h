#pragma once

#include <cstddef>
#include <functional>

#include "pages/arena.h"

namespace weir::pages {

// What the system says about the process.
std::size_t pages_present(Span span);
std::size_t mappings_within(Span span);

// Is there a fault while `access` runs? One thread at a time may ask.
bool faults_on(const std::function<void()>& access);
bool faults_on_read(const std::byte* address);

// Worlds in which mremap does less than it does here; for ArenaOptions::remap.
int remap_within_one_mapping(std::byte* from, std::byte* to, std::size_t bytes);  // before 6.17
int no_remap(std::byte* from, std::byte* to, std::size_t bytes);
// Once armed, refuses one call in three.
int flaky_remap(std::byte* from, std::byte* to, std::size_t bytes);

}  // namespace weir::pages
