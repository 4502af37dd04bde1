#include "app/command.h"

#include <gtest/gtest.h>

namespace weir::app::test {

Outcome bash(const std::string& script) {
  return ::weir::test::shell("cd '" WEIR_SOURCE_DIR "'; W='" WEIR_COMMAND "'\n" + script);
}

Outcome weir(const std::string& arguments) { return bash("exec \"$W\" " + arguments); }

nlohmann::json json_from(const std::string& arguments) {
  const Outcome run = weir(arguments);
  EXPECT_EQ(run.code, 0) << arguments << '\n' << run.err;
  EXPECT_EQ(run.err, "");
  return nlohmann::json::parse(run.out);
}

}  // namespace weir::app::test
