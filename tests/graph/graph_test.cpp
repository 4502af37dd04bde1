#include "weir/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "graph/marks.h"

namespace weir {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class GraphTest : public testing::Test {
 protected:
  // An op with one fresh output, which is its recipe.
  TensorId make(const std::vector<TensorId>& inputs, Nanos cost = {1}) {
    const OpId op = add(inputs, cost);
    graph.begin_outputs(op, 1);
    const TensorId output = graph.add_output(op, graph.add_storage({8}), true);
    graph.extend_recipe(of(output), op);
    return output;
  }
  TensorId view_of(TensorId tensor) {
    const OpId op = add({tensor});
    graph.begin_outputs(op, 1);
    return graph.add_output(op, of(tensor), false);
  }
  OpId add(const std::vector<TensorId>& inputs, Nanos cost = {1}) {
    const OpId op = graph.add_op(next_tag++, true, inputs);
    graph.set_cost(op, cost);
    return op;
  }
  // An op that changes its first input in place.
  OpId change(const std::vector<TensorId>& inputs, Nanos cost = {1}) {
    const OpId op = add(inputs, cost);
    graph.extend_recipe(of(inputs.front()), op);
    return op;
  }
  StorageId of(TensorId tensor) const { return graph[tensor].storage; }
  std::vector<StorageId> deps(TensorId tensor) const { return all(graph.deps(of(tensor))); }
  std::vector<StorageId> dependents(TensorId tensor) const {
    return all(graph.dependents(of(tensor)));
  }
  std::vector<OpId> recipe(TensorId tensor) const {
    const std::span<const OpId> ops = graph.recipe(of(tensor));
    return {ops.begin(), ops.end()};
  }
  static std::vector<StorageId> all(Graph::Neighbours range) {
    std::vector<StorageId> found;
    for (StorageId storage : range) found.push_back(storage);
    return found;
  }

  Graph graph;
  std::uint64_t next_tag = 0;
};

TEST_F(GraphTest, NumbersStoragesTensorsAndOpsInTheirOrder) {
  const TensorId a = make({}), b = make({a});
  EXPECT_EQ(a, TensorId{0});
  EXPECT_EQ(b, TensorId{1});
  EXPECT_EQ(of(b), StorageId{1});
  EXPECT_EQ(graph[b].op, OpId{1});
  EXPECT_EQ(graph.storages(), 2u);
  EXPECT_EQ(graph.tensors(), 2u);
  EXPECT_EQ(graph.ops(), 2u);
}

TEST_F(GraphTest, RemembersWhatAnOpRecordWasGiven) {
  const TensorId a = make({}), b = make({});
  const OpId op = graph.add_op(77, false, std::vector{a, b, a});
  EXPECT_EQ(graph[op].id, op);
  EXPECT_EQ(graph[op].tag, 77u);
  EXPECT_FALSE(graph[op].pure);
  EXPECT_THAT(graph.inputs(graph[op]), ElementsAre(a, b, a));
}

TEST_F(GraphTest, GivesTheOutputsOfAnOpConsecutiveNumbers) {
  const OpId op = add({});
  graph.begin_outputs(op, 2);
  const TensorId first = graph.add_output(op, graph.add_storage({8}), true);
  const TensorId second = graph.add_output(op, graph.add_storage({8}), true);
  EXPECT_EQ(graph[op].first_output, first);
  EXPECT_EQ(graph[op].outputs, 2u);
  EXPECT_EQ(index(second), index(first) + 1);
}

TEST_F(GraphTest, MakesTheFreshOutputTheRootOfItsStorage) {
  const TensorId a = make({});
  const TensorId view = view_of(a);
  EXPECT_EQ(graph[of(a)].root, a);
  EXPECT_TRUE(graph[a].fresh);
  EXPECT_FALSE(graph[view].fresh);
}

TEST_F(GraphTest, StartsAStorageWithoutARecipe) {
  const StorageId storage = graph.add_storage({8});
  EXPECT_FALSE(graph[storage].has_recipe());
  EXPECT_THAT(graph.recipe(storage), IsEmpty());
  EXPECT_EQ(graph[storage].where(), Residency::Pending);
}

TEST_F(GraphTest, AppendsToARecipeInOrder) {
  const TensorId a = make({}), b = make({});
  const OpId first = recipe(a).front();
  const OpId second = change({a}), third = change({a});
  EXPECT_THAT(recipe(a), ElementsAre(first, second, third));
  EXPECT_EQ(recipe(b).size(), 1u);
}

TEST_F(GraphTest, KeepsRecipesApartThatGrowInTurns) {
  const TensorId a = make({}), b = make({});
  std::vector<OpId> of_a = recipe(a), of_b = recipe(b);
  for (int turn = 0; turn < 5; ++turn) {
    of_a.push_back(change({a}));
    of_b.push_back(change({b}));
  }
  EXPECT_EQ(recipe(a), of_a);
  EXPECT_EQ(recipe(b), of_b);
}

TEST_F(GraphTest, DoesNotRepeatAnOpThatMakesTwoViewsOfOneStorage) {
  const TensorId a = make({}, {10});
  const OpId op = add({a}, {3});
  graph.extend_recipe(of(a), op);
  graph.extend_recipe(of(a), op);
  EXPECT_EQ(recipe(a).size(), 2u);
  EXPECT_EQ(graph[of(a)].cost, Nanos{13});
}

TEST_F(GraphTest, SumsTheCostsOfARecipe) {
  const TensorId a = make({}, {10});
  change({a}, {5});
  change({a}, {7});
  EXPECT_EQ(graph[of(a)].cost, Nanos{22});
}

TEST_F(GraphTest, KnowsWhatAStorageIsMadeFromAndWhatIsMadeFromIt) {
  const TensorId a = make({}), b = make({}), c = make({a, b}), d = make({a});
  EXPECT_THAT(deps(c), UnorderedElementsAre(of(a), of(b)));
  EXPECT_THAT(dependents(a), UnorderedElementsAre(of(c), of(d)));
  EXPECT_THAT(dependents(b), UnorderedElementsAre(of(c)));
  EXPECT_THAT(deps(a), IsEmpty());
  EXPECT_THAT(dependents(c), IsEmpty());
}

TEST_F(GraphTest, AddsAnEdgeOnlyOnce) {
  const TensorId a = make({}), b = make({a, a});
  change({b, a});
  EXPECT_THAT(deps(b), ElementsAre(of(a)));
  EXPECT_THAT(dependents(a), ElementsAre(of(b)));
}

TEST_F(GraphTest, HasNoEdgeFromAStorageToItself) {
  const TensorId a = make({});
  change({a});
  EXPECT_THAT(deps(a), IsEmpty());
  EXPECT_THAT(dependents(a), IsEmpty());
}

TEST_F(GraphTest, GainsEdgesWhenARecipeGrows) {
  const TensorId a = make({}), b = make({}), c = make({a});
  change({c, b});
  EXPECT_THAT(deps(c), UnorderedElementsAre(of(a), of(b)));
}

TEST_F(GraphTest, GoesThroughEdgesOfViewsToTheirStorage) {
  const TensorId a = make({});
  const TensorId view = view_of(a);
  const TensorId b = make({view});
  EXPECT_THAT(deps(b), ElementsAre(of(a)));
}

TEST_F(GraphTest, ForgetsARecipeWithItsCostAndTheEdgesOnBothSides) {
  const TensorId a = make({}), b = make({}), c = make({a, b}), d = make({c, a});
  graph.forget_recipe(of(c));
  EXPECT_FALSE(graph[of(c)].has_recipe());
  EXPECT_EQ(graph[of(c)].cost, Nanos{0});
  EXPECT_THAT(deps(c), IsEmpty());
  EXPECT_THAT(dependents(b), IsEmpty());
  EXPECT_THAT(dependents(a), ElementsAre(of(d)));
  EXPECT_THAT(deps(d), UnorderedElementsAre(of(a), of(c)));
}

TEST_F(GraphTest, ForgetsTheFirstTheMiddleAndTheLastOfManyDependents) {
  for (std::size_t forgotten = 0; forgotten < 3; ++forgotten) {
    const TensorId source = make({});
    std::vector<TensorId> readers{make({source}), make({source}), make({source})};
    graph.forget_recipe(of(readers[forgotten]));
    readers.erase(readers.begin() + static_cast<std::ptrdiff_t>(forgotten));
    EXPECT_THAT(dependents(source), UnorderedElementsAre(of(readers[0]), of(readers[1])));
  }
}

TEST_F(GraphTest, UsesThePlacesOfForgottenEdgesAgain) {
  const TensorId a = make({}), b = make({}), c = make({a, b});
  graph.forget_recipe(of(c));
  const TensorId d = make({a, b}), e = make({a, d});
  EXPECT_THAT(deps(d), UnorderedElementsAre(of(a), of(b)));
  EXPECT_THAT(deps(e), UnorderedElementsAre(of(a), of(d)));
  EXPECT_THAT(dependents(a), UnorderedElementsAre(of(d), of(e)));
  EXPECT_THAT(deps(c), IsEmpty());
}

TEST_F(GraphTest, ForgetsTwiceWithoutHarm) {
  const TensorId a = make({}), b = make({a});
  graph.forget_recipe(of(b));
  graph.forget_recipe(of(b));
  EXPECT_THAT(dependents(a), IsEmpty());
}

TEST_F(GraphTest, RemembersTheVersionEachInputHad) {
  const TensorId a = make({}), b = make({});
  graph[of(a)].version = 3;
  const OpId before = add({a, b});
  graph[of(a)].version = 4;
  const OpId after = add({b, a});
  EXPECT_THAT(graph.versions(graph[before]), ElementsAre(3u, 0u));
  EXPECT_THAT(graph.versions(graph[after]), ElementsAre(0u, 4u));
}

TEST_F(GraphTest, IsTheSameWithAndWithoutReserving) {
  graph.reserve(100, 100);
  const TensorId a = make({}), b = make({a});
  EXPECT_THAT(deps(b), ElementsAre(of(a)));
  EXPECT_EQ(graph.storages(), 2u);
}

using GraphDeathTest = GraphTest;

TEST_F(GraphDeathTest, RefusesAnOutputThatThereIsNoRoomFor) {
  const OpId op = add({});
  graph.begin_outputs(op, 1);
  graph.add_output(op, graph.add_storage({8}), true);
  const StorageId late = graph.add_storage({8});
  EXPECT_DEATH(graph.add_output(op, late, true), "internal check failed");
}

TEST(Marks, HoldAStorageUntilTheyAreCleared) {
  graph::Marks marks;
  marks.clear(4);
  EXPECT_TRUE(marks.insert(StorageId{2}));
  EXPECT_FALSE(marks.insert(StorageId{2}));
  EXPECT_TRUE(marks.contains(StorageId{2}));
  EXPECT_FALSE(marks.contains(StorageId{1}));
  marks.clear(8);
  EXPECT_FALSE(marks.contains(StorageId{2}));
  EXPECT_TRUE(marks.insert(StorageId{7}));
}

}  // namespace
}  // namespace weir
