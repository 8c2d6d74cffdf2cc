// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/stream_host.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/rpc/plan_stream.h"
#include "server/rpc/plan_watch.h"
#include "server/shutting_down.h"

namespace gdnplan::server {
namespace {

// A second polling thread costs the first one's streams some microseconds each; it is worth that
// once they wait for each other.
constexpr int kStreamsBeforeTheNextThread = 2;

}  // namespace

void StreamHost::Serve(const CompletionThreads& threads) {
  {
    MutexLock lock(mutex_);
    for (const auto& thread : threads) threads_.push_back({thread.get(), 0});
  }
  PlanStream::Post(*this, *threads.front());
  PlanWatch::Post(*this, *threads.front());
}

CompletionThread& StreamHost::ThreadForNextStream() {
  MutexLock lock(mutex_);
  const auto load = [](const Thread& thread) {
    return std::max(thread.num_streams, kStreamsBeforeTheNextThread - 1);
  };
  return *std::min_element(threads_.begin(), threads_.end(), [&](const Thread& a, const Thread& b) {
            return load(a) < load(b);
          })->thread;
}

void StreamHost::Count(const PlanStream& stream, int change) {
  const auto found = std::find_if(threads_.begin(), threads_.end(), [&](const Thread& thread) {
    return thread.thread == &stream.thread();
  });
  found->num_streams += change;
}

absl::Status StreamHost::Add(PlanStream& stream) {
  MutexLock lock(mutex_);
  if (stopped_) return ShuttingDown();
  if (streams_.size() >= limits_.max_streams) {
    return absl::ResourceExhaustedError(
        absl::StrCat("streams: ", streams_.size(), " are open and --max-streams is ",
                     limits_.max_streams, "; end one or raise the limit"));
  }
  streams_.insert(&stream);
  Count(stream, 1);
  return absl::OkStatus();
}

absl::Status StreamHost::Add(PlanWatch& watch) {
  MutexLock lock(mutex_);
  if (stopped_) return ShuttingDown();
  watches_.insert(&watch);
  return absl::OkStatus();
}

void StreamHost::Remove(PlanStream& stream) {
  MutexLock lock(mutex_);
  if (streams_.erase(&stream) > 0) Count(stream, -1);
}

void StreamHost::Remove(PlanWatch& watch) {
  MutexLock lock(mutex_);
  watches_.erase(&watch);
}

void StreamHost::Stop() {
  MutexLock lock(mutex_);
  stopped_ = true;
  for (PlanStream* stream : streams_) stream->Stop(ShuttingDown());
  for (PlanWatch* watch : watches_) watch->OnEnd(ShuttingDown());
}

}  // namespace gdnplan::server
