// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Answers that come to a callback or a future.
#pragma once

#include <functional>
#include <future>
#include <memory>

#include "absl/status/statusor.h"
#include "gdnplan/client/plan_stream.h"

namespace gdnplan::client {

// A PlanStream with a thread of its own that takes the answers. Thread safe.
class AsyncPlanStream {
 public:
  // On the stream's thread, in the order of the requests. Must not block for long, and not destroy
  // the stream. It may call Plan, which does not wait there: its callback gets ResourceExhausted
  // while StreamOptions::max_in_flight plans are in flight.
  using Callback = std::function<void(absl::StatusOr<PlanView>)>;

  // Nothing of the stream may be in flight; otherwise every callback gets FailedPrecondition. Where
  // the system gives no thread, every callback gets ResourceExhausted, before Plan returns.
  explicit AsyncPlanStream(PlanStream stream);
  // Waits for the answers to what is in flight, each at most PlanOptions::deadline; after Cancel
  // they come at once. A callback's Plan is Cancelled by then.
  ~AsyncPlanStream();
  AsyncPlanStream(AsyncPlanStream&&) noexcept;
  AsyncPlanStream& operator=(AsyncPlanStream&&) noexcept;

  // Sends a request; the batch is copied. Waits while StreamOptions::max_in_flight plans are in
  // flight. Errors, also of the sending, come to the callback, as of Session::Plan; where the
  // stream broke they come to each callback that is left.
  void Plan(const plan::BatchView& batch, const PlanOptions& options, Callback callback);
  std::future<absl::StatusOr<PlanView>> Plan(const plan::BatchView& batch,
                                             const PlanOptions& options = {});

  // Answers what is in flight with Cancelled.
  void Cancel();

 private:
  class Impl;
  void End();

  std::unique_ptr<Impl> impl_;
};

}  // namespace gdnplan::client
