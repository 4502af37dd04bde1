#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cost/op_tensors.h"
#include "cost/op_work.h"

namespace weir::cost {

// Adds what an op computes to `work`; false: its tensors are not what the op takes.
using Count = bool (*)(const OpTensors& op, OpWork& work);

// Says which touches belong to which pass, of an op whose passes differ.
using Arrange = void (*)(const OpTensors& op, OpWork& work);

// What is known of an operator. By default it reads each of its inputs once, writes what it changes
// and what it makes once, and computes `per_element` for each element of its largest tensor.
struct Entry {
  std::string_view name;  // without its namespace and without the _ of an in-place op
  Kernel kernel;
  std::int32_t per_element = 0;
  std::uint8_t passes = 1;     // over inputs as large as its largest one
  std::uint32_t unread = 0;    // bit i: argument i is not read, or only its shape
  Count count = nullptr;       // instead of per_element
  std::uint32_t gathered = 0;  // bit i: of argument i no more elements are read than others have
  bool writes = true;          // false: what it makes is not filled
  Arrange arrange = nullptr;
};

// Adds a product and its multiplications and additions.
void add_gemm(OpWork& work, const Gemm& gemm);

// One per family. Together they are the one table of operators.
std::span<const Entry> matmul_ops();
std::span<const Entry> convolution_ops();
std::span<const Entry> attention_ops();
std::span<const Entry> rnn_ops();
std::span<const Entry> norm_ops();
std::span<const Entry> loss_ops();
std::span<const Entry> elementwise_ops();
std::span<const Entry> reduction_ops();
std::span<const Entry> spatial_ops();
std::span<const Entry> copy_ops();
std::span<const Entry> optimizer_ops();

// By the name in a trace, "aten::add_"; null: not known.
const Entry* find_op(std::string_view name);

}  // namespace weir::cost
