#pragma once

#include <vector>

#include "plan/device_course.h"
#include "plan/rows.h"

namespace weir::plan {

// XEngine's model as a mixed-integer program: Checkmate's with a choice of device for each run of
// an op. Its products (an op runs here, and what it reads is there) are columns: a copy comes just
// before an op's turn. What differs from the published one is in docs/planner.md.
class DeviceModel {
 public:
  enum class Aim : std::uint8_t { LeastCost, LeastShare };

  // For the least share of the budgets, all in the same proportion, costs do not count. Throws
  // BadInput if the problem is too large.
  DeviceModel(const Problem& problem, const Devices& devices, Aim aim = Aim::LeastCost);

  [[nodiscard]] const LinearProgram& program() const { return rows_.program(); }
  // What a solution's cost is in nanoseconds; as a share of the budgets, if that is the aim.
  [[nodiscard]] double amount_of(double cost) const { return cost * unit_; }

  [[nodiscard]] DeviceCourse course_in(const std::vector<double>& solution) const;

 private:
  // A copy of a value that comes to a device before an op's turn.
  struct Copy {
    ValueId value;
    DeviceId from, to;
    Cell cell;
  };
  struct Cells : Turn<Cell> {
    std::vector<Copy> copies = {};
  };

  void set_units(Aim aim);
  [[nodiscard]] double scaled(Nanos cost) const;
  // When the stage begins; and then, when its constants have come.
  [[nodiscard]] bool may_stay(Stage stage, ValueId value) const;
  [[nodiscard]] bool may_be_there(Stage stage, ValueId value) const;
  template <typename Condition>
  [[nodiscard]] Places<Cell> new_places(const Condition& may_be);
  [[nodiscard]] Cells new_turn(Stage stage, std::uint32_t op);
  [[nodiscard]] std::vector<Copy> new_copies(Stage stage);
  [[nodiscard]] bool worth_running(Stage stage, std::uint32_t op) const;

  // What is there before an op's turn (one beyond the last: at the end of the stage), as a sum.
  [[nodiscard]] std::vector<Cell> before(Stage stage, std::uint32_t op, ValueId value,
                                         DeviceId device) const;

  void add_stage(Stage stage);
  void add_turn(Stage stage, std::uint32_t op);
  void add_copies(Stage stage, std::uint32_t op);
  void add_presence(Stage stage, std::uint32_t op, ValueId value, DeviceId device);
  void add_held(Stage stage, ValueId value);
  void add_memory(Stage stage, std::uint32_t op, DeviceId device);
  void add_arrivals(Stage stage);
  void add_memory_row(std::vector<Term> bytes, DeviceId device);
  void add_bytes(std::vector<Term>& row, const Places<Cell>& places, DeviceId device) const;
  void add_somewhere(const Places<Cell>& places, ValueId value);

  template <typename Do>
  void for_each_device(const Do& what) const {
    for (std::uint32_t i = 0; i < devices_.count(); ++i) what(DeviceId{i});
  }
  template <typename Do>
  void for_each_value(const Do& what) const {
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i) what(ValueId{i});
  }

  const Problem& problem_;
  const Devices& devices_;
  std::vector<Stage> last_use_;
  Rows rows_;
  Cell share_ = kZero;
  double unit_ = 1;
  std::vector<double> most_bytes_;         // by device
  std::vector<Places<Cell>> begins_;       // by stage
  std::vector<std::vector<Cells>> turns_;  // by stage and op
};

}  // namespace weir::plan
