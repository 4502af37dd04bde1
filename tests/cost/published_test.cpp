// Figures for training steps that are known from elsewhere, to the last digit that is told.
#include <gtest/gtest.h>

#include "cost/curve.h"
#include "cost/nets.h"
#include "cost/optimum.h"
#include "cost/tensor_lru.h"

namespace weir::cost::test {
namespace {

struct Figure {
  double mebibytes;
  double whole_tensors, lines, best;  // GB; 0: not known
};

void expect_figure(double got, double gigabytes, const char* what, double mebibytes) {
  if (gigabytes == 0) return;
  EXPECT_NEAR(got / 1e9, gigabytes, 0.00501) << what << " at " << mebibytes << " MiB";
}

void expect_figures(const Step& step, std::initializer_list<Figure> figures) {
  const Blocks blocks{step};
  const Reuse reuse = reuse_of(step, blocks);
  const MissCurve curve{step, reuse};
  const TensorLru tensors{step};
  for (const Figure& figure : figures) {
    const double capacity = figure.mebibytes * 1048576;
    expect_figure(tensors.at(capacity), figure.whole_tensors, "whole tensors", figure.mebibytes);
    expect_figure(curve.at(capacity).total(), figure.lines, "lines", figure.mebibytes);
    if (figure.best == 0) continue;
    const Optimum best = optimum_of(step, reuse, capacity);
    expect_figure(best.bound, figure.best, "the best", figure.mebibytes);
    EXPECT_GE(best.whole, best.bound * 0.9999);
    EXPECT_LE(best.bound, curve.at(capacity).total() * 1.0001);
  }
}

TEST(PublishedFigures, OfResNet50) {
  const Step step = resnet50(32, 4).step;
  const MissCurve curve{step, reuse_of(step, Blocks{step})};
  EXPECT_EQ(step.sweeps.size(), 562u);
  EXPECT_NEAR(curve.no_reuse() / 1e9, 31.25, 0.01);
  EXPECT_NEAR(curve.compulsory() / 1e9, 0.427, 0.001);
  std::int64_t flops = 0;
  for (const StepOp& op : step.ops) flops += op.flops;
  EXPECT_NEAR(static_cast<double>(flops) / 1e9, 777.6, 0.02 * 777.6);
  expect_figures(step, {{16, 29.25, 30.25, 22.62},
                        {32, 25.52, 27.87, 17.69},
                        {64, 20.32, 23.15, 12.40},
                        {128, 12.90, 16.80, 7.91},
                        {256, 8.34, 10.15, 5.77},
                        {1024, 5.48, 5.48, 3.82},
                        {4096, 3.05, 0, 0.427}});
}

TEST(PublishedFigures, OfResNet50InHalfPrecision) {
  const Step step = resnet50(32, 2).step;
  EXPECT_NEAR((MissCurve{step, reuse_of(step, Blocks{step})}.no_reuse()) / 1e9, 15.63, 0.01);
  expect_figures(step, {{10, 14.58, 0, 10.54}, {64, 6.45, 0, 3.95}});
}

TEST(PublishedFigures, OfVgg16) {
  const Step step = vgg16(32, 4).step;
  const MissCurve curve{step, reuse_of(step, Blocks{step})};
  EXPECT_NEAR(curve.no_reuse() / 1e9, 24.12, 0.01);
  EXPECT_NEAR(curve.compulsory() / 1e9, 2.23, 0.01);
  expect_figures(step,
                 {{64, 23.07, 23.55, 18.78}, {256, 17.91, 19.11, 11.54}, {1024, 8.59, 8.63, 5.89}});
}

}  // namespace
}  // namespace weir::cost::test
