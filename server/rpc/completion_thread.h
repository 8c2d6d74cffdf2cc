// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A completion queue and the thread that serves it.
//
// Whoever waits for gRPC's events also polls its sockets, and only one thread of a process does so
// at a time. A second thread that waits, even for another queue, takes the sockets' events and
// hands them over, at 10 to 20 us each. So there are few of these threads, a thread without calls
// does not poll, and nothing else in the server waits on a queue: no service of gRPC's callback
// API, whose threads would.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <thread>

#include "server/mutex.h"
#include "server/rpc/poll_mode.h"

namespace gdnplan::server {

class CompletionThread {
 public:
  // always_on: it accepts calls, its own and other threads'. Others poll only while they have some.
  CompletionThread(std::unique_ptr<grpc::ServerCompletionQueue> queue, PollMode mode,
                   bool always_on);
  ~CompletionThread() { Stop(); }

  // Once, after the server was started.
  void Start();
  // Returns once all calls ended and the thread did: the server must have been shut down, and goes
  // before the queue.
  void Stop();

  grpc::ServerCompletionQueue& queue() { return *queue_; }

  // Calls whose operations complete here. From any thread.
  void AddCall();
  void RemoveCall();
  int num_calls() const;

  // The thread calls it, soon, whether it has calls or not. Between Start and Stop.
  void Ping(std::function<void()> pong);

 private:
  class PingTag;
  void Run();
  // Waits until there is something to poll for, or the end.
  void AwaitCalls();
  bool Next(void** tag, bool* ok);
  void Drain();

  const std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  const bool always_on_;
  PollPolicy policy_;

  mutable Mutex mutex_;
  CondVar changed_;
  int num_calls_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace gdnplan::server
