// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A tensor of a plan where it lies. Owns nothing: the PlanView that it came from keeps the mapping.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "gdnplan/client/types.h"
#include "gdnplan/plan/tensor_table.h"

namespace gdnplan::client {

namespace internal {

// Prints the message to stderr and aborts: for misuse that a caller can rule out beforehand.
[[noreturn]] void Abort(const char* message);

}  // namespace internal

// Without an element type, for code that handles every tensor alike.
struct RawTensor {
  const void* data = nullptr;  // a device pointer unless `device` is kHost
  DeviceKind device = DeviceKind::kUnknown;
  int ordinal = 0;  // of the GPU in this process; with it a DLPack tensor can be made of this
  plan::DType dtype = plan::DType::kInt32;
  int rank = 1;
  std::array<int64_t, 2> dims = {0, 0};  // the second is 0 where the rank is 1
  uint64_t offset = 0;                   // bytes from the arena's start

  int64_t size() const { return rank == 2 ? dims[0] * dims[1] : dims[0]; }
};

// Dense, row-major. Copy it freely. The elements are those of the plan from the moment that the
// slot's `ready` has reached it until the slot is used again; reading at any other time gives
// unspecified values.
template <typename T>
class TensorView {
 public:
  explicit TensorView(const RawTensor& raw) : raw_(raw) {}

  // A device pointer unless device() is kHost.
  T* data() const { return static_cast<T*>(raw_.data); }
  DeviceKind device() const { return raw_.device; }

  int rank() const { return raw_.rank; }
  std::span<const int64_t> dims() const {
    return {raw_.dims.data(), static_cast<size_t>(raw_.rank)};
  }
  int64_t size() const { return raw_.size(); }
  bool empty() const { return size() == 0; }

  // All elements in order. Host memory only: aborts for a tensor of another device.
  std::span<T> span() const {
    if (device() != DeviceKind::kHost) internal::Abort("TensorView: span() needs host memory");
    return {data(), static_cast<size_t>(size())};
  }
  // One element of a vector or a matrix. Host memory only, and within dims(): aborts otherwise.
  T& at(int64_t i) const {
    if (rank() != 1 || i < 0 || i >= raw_.dims[0]) internal::Abort("TensorView: at(i) outside");
    return span()[static_cast<size_t>(i)];
  }
  T& at(int64_t i, int64_t j) const {
    if (rank() != 2 || i < 0 || i >= raw_.dims[0] || j < 0 || j >= raw_.dims[1]) {
      internal::Abort("TensorView: at(i, j) outside");
    }
    return span()[static_cast<size_t>(i * raw_.dims[1] + j)];
  }

  const RawTensor& raw() const { return raw_; }

 private:
  RawTensor raw_;
};

}  // namespace gdnplan::client
