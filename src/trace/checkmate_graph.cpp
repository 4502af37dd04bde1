#include "trace/checkmate_graph.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>

#include "trace/graph_program.h"
#include "trace/lines.h"
#include "trace/message.h"
#include "weir/errors.h"

namespace weir::trace {
namespace {

using Object = simdjson::dom::object;
using List = simdjson::dom::array;
using Places = std::map<std::int64_t, std::uint32_t>;  // node id -> index, ascending

template <typename T>
T field(Object object, const char* key, const std::string& where, const char* type) {
  simdjson::dom::element value;
  T result;
  if (object[key].get(value) != simdjson::SUCCESS)
    throw BadInput(fmt::format("{} has no '{}'; add it", where, key));
  if (value.get(result) != simdjson::SUCCESS)
    throw BadInput(fmt::format("{} has a '{}' that is not {}", where, key, type));
  return result;
}

std::int64_t id_in(Object object, const char* key, const std::string& where) {
  return field<std::int64_t>(object, key, where, "a whole number");
}

// Costs come from fits and may be fractions; beyond 2^50 the builder refuses them anyway.
std::int64_t rounded(Object node, const char* key, const std::string& where) {
  auto value = field<double>(node, key, where, "a number");
  if (!(value >= 0 && value <= 0x1p50))
    throw BadInput(fmt::format("{} has a '{}' outside 0 to 2^50; check the unit", where, key));
  return std::llround(value);
}

GraphNode node_in(Object node, const std::string& where) {
  bool backward = field<bool>(node, "backward", where, "true or false");
  return {.name = std::string(field<std::string_view>(node, "name", where, "a string")),
          .phase = backward ? Phase::Backward : Phase::Forward,
          .cost = Nanos{rounded(node, "cost_cpu", where)},
          .size = Bytes{rounded(node, "cost_ram", where)},
          .inputs = {}};
}

List list_in(Object graph, const char* key) {
  return field<List>(graph, key, "the graph", "a list");
}

Object object_in(simdjson::dom::element value, const char* what) {
  Object object;
  if (value.get(object) != simdjson::SUCCESS)
    throw BadInput(fmt::format("{} is not an object", what));
  return object;
}

Places places_of(List nodes) {
  Places places;
  for (auto node : nodes) {
    std::int64_t id = id_in(object_in(node, "a node"), "id", "a node");
    if (!places.emplace(id, 0).second)
      throw BadInput(fmt::format("node {} is there twice; ids must differ", id));
  }
  std::uint32_t next = 0;
  for (auto& [id, place] : places) place = next++;
  return places;
}

std::uint32_t end_of_link(Object link, const char* key, const Places& places) {
  std::int64_t id = id_in(link, key, "a link");
  auto place = places.find(id);
  if (place == places.end())
    throw BadInput(fmt::format("a link names node {}, which is not there; add it", id));
  return place->second;
}

void add_links(Object graph, const Places& places, std::vector<GraphNode>& nodes) {
  bool has_links = graph["links"].error() == simdjson::SUCCESS;
  for (auto element : list_in(graph, has_links ? "links" : "edges")) {
    Object link = object_in(element, "a link");
    std::uint32_t source = end_of_link(link, "source", places);
    std::uint32_t target = end_of_link(link, "target", places);
    if (source == target)
      throw BadInput(fmt::format("node {} is linked to itself; remove the link",
                                 id_in(link, "source", "a link")));
    nodes[target].inputs.push_back(source);
  }
  for (GraphNode& node : nodes) {
    std::ranges::sort(node.inputs);
    node.inputs.erase(std::unique(node.inputs.begin(), node.inputs.end()), node.inputs.end());
  }
}

std::vector<std::uint32_t> smallest_first_order(const std::vector<GraphNode>& nodes) {
  std::vector<std::vector<std::uint32_t>> users(nodes.size());
  std::vector<std::size_t> waits_for(nodes.size());
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t place = 0; place < nodes.size(); ++place) {
    waits_for[place] = nodes[place].inputs.size();
    if (waits_for[place] == 0) ready.push(place);
    for (std::uint32_t input : nodes[place].inputs) users[input].push_back(place);
  }
  std::vector<std::uint32_t> order;
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (std::uint32_t user : users[order.back()])
      if (--waits_for[user] == 0) ready.push(user);
  }
  return order;
}

Trace trace_of(Object graph, std::string_view source) {
  List list = list_in(graph, "nodes");
  Places places = places_of(list);
  std::vector<GraphNode> nodes(places.size());
  for (Object node : list) {
    std::int64_t id = id_in(node, "id", "a node");
    nodes[places[id]] = node_in(node, fmt::format("node {}", id));
  }
  add_links(graph, places, nodes);
  std::vector<std::uint32_t> order = smallest_first_order(nodes);
  if (order.size() < nodes.size())
    throw BadInput("the links form a cycle; a computation graph has none");
  return program_of(nodes, order, ViewRule::Rerun, std::string(source));
}

}  // namespace

Trace read_checkmate_graph(std::span<const char> bytes, std::string_view source) {
  try {
    simdjson::dom::parser parser;
    simdjson::dom::element file = parser.parse(bytes.data(), bytes.size());
    Trace trace = trace_of(object_in(file, "the file"), source);
    trace.lines = lines_in({bytes.data(), bytes.size()});
    return trace;
  } catch (const simdjson::simdjson_error&) {
    throw BadInput(located(source, 1, "the graph is no whole JSON object; get the file again"));
  } catch (const BadInput& error) {
    throw BadInput(located(source, 1, error.what()));
  }
}

}  // namespace weir::trace
