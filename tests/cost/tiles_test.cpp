#include "cost/tiles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace weir::cost::test {
namespace {

// By trying every tile that stays: what tiled_words() computes in closed form, without rounding.
double naive_output_stays(const Gemm& gemm, double words) {
  double least = std::numeric_limits<double>::infinity();
  const auto m = static_cast<double>(gemm.m), n = static_cast<double>(gemm.n);
  const auto k = static_cast<double>(gemm.k);
  for (double rows = 1; rows <= m; ++rows)
    for (double columns = 1; columns <= n; ++columns)
      if (rows * columns + rows + columns <= words)
        least = std::min(least, m * n * k * (1 / rows + 1 / columns) + m * n);
  return least;
}

TEST(Tiles, MoveWhatIsKnownOfASquareProduct) {
  const Gemm square{.m = 256, .n = 256, .k = 256};
  EXPECT_NEAR(tiled_words(square, 16'640), 327'680, 0.001 * 327'680);  // 128 x 128 and its slices
  for (const double words : {288.0, 1'088.0, 4'224.0, 16'640.0})
    EXPECT_NEAR(tiled_words(square, words), naive_output_stays(square, words),
                0.001 * naive_output_stays(square, words));
}

TEST(Tiles, AreNoWorseThanTheBestTileThatIsTried) {
  for (const Gemm& gemm : {Gemm{.m = 7, .n = 300, .k = 50}, Gemm{.m = 300, .n = 5, .k = 64},
                           Gemm{.m = 60, .n = 60, .k = 3}, Gemm{.m = 1, .n = 400, .k = 400}})
    for (const double words : {50.0, 200.0, 1'000.0, 20'000.0}) {
      EXPECT_LE(tiled_words(gemm, words), naive_output_stays(gemm, words) * 1.001) << words;
      EXPECT_GE(tiled_words(gemm, words), least_words(gemm, words)) << words;
    }
}

TEST(Tiles, ReadEachMatrixOnceIfAllFit) {
  const Gemm gemm{.batch = 3, .m = 20, .n = 30, .k = 40};
  EXPECT_DOUBLE_EQ(tiled_words(gemm, 1e6), 3 * (20 * 30 + 20 * 40 + 30 * 40));
  EXPECT_DOUBLE_EQ(least_words(gemm, 1e6), 3 * (20 * 30 + 20 * 40 + 30 * 40));
}

TEST(Tiles, KeepAFactorThatFits) {
  const Gemm thin{.m = 4096, .n = 4096, .k = 8};  // the output does not fit, the factors do
  EXPECT_LT(tiled_words(thin, 70'000), 1.001 * (4096.0 * 4096 + 2 * 4096 * 8));
}

TEST(Tiles, UseTheWindowOfAConvolution) {
  const Gemm plain{.m = 64, .n = 50'000, .k = 576};
  Gemm window = plain;
  window.window = 9;
  EXPECT_LT(tiled_words(window, 4096), tiled_words(plain, 4096));
}

TEST(Tiles, OfAConvolutionThatFitsMoveEachOperandOnce) {
  const Gemm gemm{.m = 64, .n = 3'136, .k = 576, .window = 9};
  EXPECT_DOUBLE_EQ(tiled_words(gemm, 1e7), 64 * 3'136 + 64 * 576 + 3'136 * 576 / 9.0);
  double before = tiled_words(gemm, 1e7);
  for (const double words : {300'000.0, 65'536.0, 4'096.0, 1'024.0}) {
    EXPECT_GE(tiled_words(gemm, words), before) << words;
    EXPECT_GE(tiled_words(gemm, words), least_words(gemm, words)) << words;
    before = tiled_words(gemm, words);
  }
}

// Queries pass by parts that fill the cache; for each part all keys pass, unless they stay.
double naive_attention(double queries, double keys, double depth, double words) {
  if (keys * depth <= words) return queries * depth + keys * depth;
  double moved = 0;
  for (double done = 0; done < queries * depth; done += words) {
    const double part = std::min(words, queries * depth - done);
    moved += part + keys * depth * std::min(1.0, done == 0 ? 1.0 : part / words);
  }
  return moved;
}

TEST(Tiles, OfAFusedProductDoNotMoveItsLargestMatrix) {
  const Gemm scores{.batch = 2, .m = 1024, .n = 512, .k = 64, .fused = true};
  const Gemm mixed{.batch = 2, .m = 1024, .n = 64, .k = 512, .fused = true};
  for (const double words : {1'000.0, 10'000.0, 30'000.0, 40'000.0, 1e6}) {
    const double naive = 2 * naive_attention(1024, 512, 64, words);
    EXPECT_NEAR(tiled_words(scores, words), naive, 0.001 * naive) << words;
    EXPECT_DOUBLE_EQ(tiled_words(mixed, words), tiled_words(scores, words)) << words;
  }
}

TEST(Tiles, AddNothingToWhatAnOpTouchesAnyway) {
  Trace trace;
  trace.names.emplace_back("float32");
  Step step;
  step.items = {{StorageId{0}, {4 * 256 * 256}},
                {StorageId{1}, {4 * 256 * 256}},
                {StorageId{2}, {4 * 256 * 256}}};
  step.accesses = {{0, true, false}, {1, true, false}, {2, false, true}};
  step.ops = {{.dtype = 1, .gemms = {{.m = 256, .n = 256, .k = 256}}}};
  step.sweeps = {{0, 0, 3}};
  const Tiles tiles{trace, step};
  EXPECT_NEAR(tiles.extra(0, 4 * 16'640), 4 * (327'680 - 3 * 65'536), 400);
  EXPECT_EQ(tiles.extra(0, 1e9), 0);
  EXPECT_EQ(tiles.extra(0, 4 * 16'640), tiles.extra(4 * 16'640));
}

}  // namespace
}  // namespace weir::cost::test
