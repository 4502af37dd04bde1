#include <gtest/gtest.h>

#include <string_view>

#include "golden/table.h"

namespace {
bool update_golden = false;
}

bool weir::golden::updating() { return update_golden; }

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) update_golden |= std::string_view{argv[i]} == "--update-golden";
  return RUN_ALL_TESTS();
}
