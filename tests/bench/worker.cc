// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/worker.h"

#if defined(GDNPLAN_CUDA)
#include <atomic>
#include <chrono>
#include <new>
#include <thread>

#include "gdnplan/cuda/device_guard.h"
#include "gdnplan/cuda/gpu_info.h"
#include "gdnplan/cuda/memory.h"
#include "gdnplan/cuda/stream.h"
#include "gdnplan/cuda/timeline.h"
#include "gdnplan/plan/status.h"
#include "tests/gpu/busy_load.h"
#endif

namespace gdnplan::bench {
namespace {

// Host plans are complete as they are answered.
class HostWorker final : public Worker {
 public:
  absl::Status WaitFor(const client::Session& session, const client::PlanView& plan) override {
    return session.WaitReady(plan, std::chrono::seconds(1));
  }
  absl::Status Mark() override { return absl::OkStatus(); }
  bool Passed() const override { return true; }
};

#if defined(GDNPLAN_CUDA)
absl::StatusOr<int> OrdinalOf(const client::Session& session) {
  return cuda::FindGpu(session.info().arenas.front().device.id);
}

class CudaWorker final : public Worker {
 public:
  static absl::StatusOr<std::unique_ptr<Worker>> Create(const client::Session& session) {
    GDNPLAN_ASSIGN_OR_RETURN(const int ordinal, OrdinalOf(session));
    GDNPLAN_ASSIGN_OR_RETURN(const cuda::DeviceGuard guard, cuda::DeviceGuard::Create(ordinal));
    GDNPLAN_ASSIGN_OR_RETURN(cuda::Stream stream, cuda::Stream::Create());
    GDNPLAN_ASSIGN_OR_RETURN(cuda::PinnedMemory mark, cuda::PinnedMemory::Create(4096));
    return std::unique_ptr<Worker>(new CudaWorker(std::move(stream), std::move(mark)));
  }

  absl::Status WaitFor(const client::Session& session, const client::PlanView& plan) override {
    return session.WaitReadyOn(stream_.view().get(), plan);
  }
  absl::Status Mark() override { return cuda::WriteValue(stream_, mark_.data(), ++last_); }
  bool Passed() const override { return Value().load(std::memory_order_acquire) >= last_; }

 private:
  CudaWorker(cuda::Stream stream, cuda::PinnedMemory mark)
      : stream_(std::move(stream)), mark_(std::move(mark)) {
    new (mark_.data()) std::atomic<uint64_t>(0);
  }
  std::atomic<uint64_t>& Value() const {
    return *reinterpret_cast<std::atomic<uint64_t>*>(mark_.data());
  }

  cuda::Stream stream_;
  cuda::PinnedMemory mark_;
  uint64_t last_ = 0;
};

class CudaLoad final : public Load {
 public:
  explicit CudaLoad(int ordinal)
      : thread_([this, ordinal] {
          test::RunBusyLoad(
              ordinal, [this] { return stop_.load(); }, [this] { full_ = true; });
        }) {
    while (!full_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ~CudaLoad() override {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::atomic<bool> full_ = false;
  std::thread thread_;  // last: it uses the others
};
#endif

}  // namespace

absl::StatusOr<std::unique_ptr<Worker>> MakeWorker(const client::Session& session) {
  const client::DeviceInfo& device = session.info().arenas.front().device;
  if (device.kind == client::DeviceKind::kHost) return std::make_unique<HostWorker>();
#if defined(GDNPLAN_CUDA)
  return CudaWorker::Create(session);
#else
  return absl::UnimplementedError("built without CUDA");
#endif
}

absl::StatusOr<std::unique_ptr<Load>> MakeLoad(const client::Session& session) {
  const client::DeviceInfo& device = session.info().arenas.front().device;
  if (device.kind == client::DeviceKind::kHost) return std::make_unique<Load>();
#if defined(GDNPLAN_CUDA)
  GDNPLAN_ASSIGN_OR_RETURN(const int ordinal, OrdinalOf(session));
  return std::make_unique<CudaLoad>(ordinal);
#else
  return absl::UnimplementedError("built without CUDA");
#endif
}

}  // namespace gdnplan::bench
