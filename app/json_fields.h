#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "trace/message.h"
#include "weir/errors.h"

// What files of settings are read with.
namespace weir::app {

inline void check_keys(const nlohmann::ordered_json& object, const std::string& what,
                       std::initializer_list<std::string_view> known) {
  if (!object.is_object()) throw BadInput(fmt::format("{} is no object", what));
  for (const auto& [key, value] : object.items())
    if (std::ranges::find(known, key) == known.end())
      throw BadInput(fmt::format("{} has {}, which nothing reads", what, trace::quoted(key)));
}

inline std::string text_in(const nlohmann::ordered_json& object, const std::string& what,
                           const char* key) {
  if (!object.contains(key) || !object[key].is_string())
    throw BadInput(fmt::format("{} lacks \"{}\" as a text", what, key));
  return object[key];
}

}  // namespace weir::app
