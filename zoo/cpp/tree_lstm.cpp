// A binary Tree-LSTM (Tai et al. 2015) over random trees, as zoo/nets/tree_lstm.py has it.

#include <memory>
#include <utility>

#include "train.h"

namespace nn = torch::nn;

namespace {

struct Sizes {
  std::int64_t batch = 32, hidden = 256, depth = 7, vocabulary = 1000, classes = 5;
};

struct Tree {  // a leaf has no children
  std::unique_ptr<Tree> left, right;
};

// Every split of the leaves is equally likely.
std::unique_ptr<Tree> random_tree(zoo::Source& source, std::int64_t leaves) {
  auto tree = std::make_unique<Tree>();
  if (leaves == 1) return tree;
  const std::int64_t left = 1 + source.below(leaves - 1);
  tree->left = random_tree(source, left);
  tree->right = random_tree(source, leaves - left);
  return tree;
}

struct State {
  torch::Tensor hidden, cell;
};

class TreeLstm : public zoo::Net {
 public:
  explicit TreeLstm(const Sizes& sizes)
      : sizes_{sizes},
        token_{register_module("token", nn::Embedding(sizes.vocabulary, sizes.hidden))},
        leaf_{register_module("leaf", nn::Linear(sizes.hidden, 3 * sizes.hidden))},
        inner_{register_module("inner", nn::Linear(2 * sizes.hidden, 5 * sizes.hidden))},
        classifier_{register_module("classifier", nn::Linear(sizes.hidden, sizes.classes))} {}

  // Tokens of a band of the vocabulary that tells the label; neighbouring bands overlap.
  torch::Tensor loss(zoo::Source& source) override {
    const std::int64_t average = std::int64_t{1} << (sizes_.depth - 1);
    const std::int64_t leaves = 3 * average / 4 + source.below(average / 2 + 1);
    const std::unique_ptr<Tree> tree = random_tree(source, leaves);
    const std::int64_t width = sizes_.vocabulary / sizes_.classes;
    const torch::Tensor labels = source.integers(sizes_.classes, {sizes_.batch});
    const torch::Tensor within = source.integers(2 * width, {leaves, sizes_.batch});
    const torch::Tensor tokens = (labels * width + within).remainder(sizes_.vocabulary);
    const std::vector<torch::Tensor> words = token_->forward(tokens).unbind();
    auto next = words.begin();
    return nn::functional::cross_entropy(classifier_->forward(walk(*tree, next).hidden), labels);
  }

 private:
  using Words = std::vector<torch::Tensor>::const_iterator;

  // Of a tree whose leaves read the next words.
  State walk(const Tree& tree, Words& next) {
    if (!tree.left) return at_leaf(*next++);
    const State left = walk(*tree.left, next);
    return at_node(left, walk(*tree.right, next));
  }

  State at_leaf(const torch::Tensor& word) {
    const auto gates = leaf_->forward(word).chunk(3, 1);
    const torch::Tensor cell = gates[0].sigmoid() * gates[2].tanh();
    return {gates[1].sigmoid() * cell.tanh(), cell};
  }

  State at_node(const State& left, const State& right) {
    const auto gates = inner_->forward(torch::cat({left.hidden, right.hidden}, 1)).chunk(5, 1);
    const torch::Tensor kept = gates[1].sigmoid() * left.cell + gates[2].sigmoid() * right.cell;
    const torch::Tensor cell = gates[0].sigmoid() * gates[4].tanh() + kept;
    return {gates[3].sigmoid() * cell.tanh(), cell};
  }

  Sizes sizes_;
  nn::Embedding token_;
  nn::Linear leaf_, inner_, classifier_;
};

}  // namespace

int main(int argc, char** argv) {
  Sizes sizes;
  zoo::Options options{.batch = sizes.batch, .learning_rate = 0.5};
  CLI::App app{"Train a Tree-LSTM on random trees, another one at every step"};
  zoo::add_options(app, options);
  app.add_option("--hidden", sizes.hidden)->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--depth", sizes.depth)->capture_default_str()->check(CLI::Range(2, 12));
  CLI11_PARSE(app, argc, argv);
  sizes.batch = options.batch;
  zoo::train([&] { return std::make_shared<TreeLstm>(sizes); }, options);
}
