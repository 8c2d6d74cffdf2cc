// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/health_service.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/rpc/health_watch.h"
#include "server/shutting_down.h"

namespace gdnplan::server {
namespace {

using Response = grpc::health::v1::HealthCheckResponse;

HealthService::Status StatusOf(bool serving) {
  return serving ? Response::SERVING : Response::NOT_SERVING;
}

}  // namespace

HealthService::HealthService(std::vector<std::string> services)
    : names_(std::move(services)),
      check_{.request =
                 [this](auto* context, auto* request, auto* writer, auto* queue, Tag* tag) {
                   service_.RequestCheck(context, request, writer, queue, queue, tag);
                 },
             .handle =
                 [this](CheckCall& call) {
                   if (!Knows(call.request().service())) {
                     call.Finish(absl::NotFoundError("service: unknown"));
                     return;
                   }
                   {
                     MutexLock lock(mutex_);
                     call.response().set_status(StatusOf(serving_));
                   }
                   call.Finish(absl::OkStatus());
                 },
             .over = nullptr} {}

bool HealthService::Knows(const std::string& service) const {
  return service.empty() || std::find(names_.begin(), names_.end(), service) != names_.end();
}

void HealthService::Serve(CompletionThread& thread) {
  CheckCall::Post(check_, thread);
  HealthWatch::Post(*this, thread);
}

bool HealthService::serving() const {
  MutexLock lock(mutex_);
  return serving_ && !stopped_;
}

void HealthService::SetServing(bool serving) {
  MutexLock lock(mutex_);
  if (std::exchange(serving_, serving) == serving) return;
  for (HealthWatch* watch : watches_) {
    if (Knows(watch->service())) watch->Tell(StatusOf(serving));
  }
}

void HealthService::Stop() {
  MutexLock lock(mutex_);
  stopped_ = true;
  for (HealthWatch* watch : watches_) {
    watch->End(ShuttingDown());
  }
}

absl::Status HealthService::Add(HealthWatch& watch) {
  MutexLock lock(mutex_);
  if (stopped_) return ShuttingDown();
  if (watches_.size() >= kMaxWatches) {
    return absl::ResourceExhaustedError(
        absl::StrCat("watches: ", watches_.size(), " clients watch already; use Check"));
  }
  watches_.insert(&watch);
  watch.Tell(Knows(watch.service()) ? StatusOf(serving_) : Response::SERVICE_UNKNOWN);
  return absl::OkStatus();
}

void HealthService::Remove(HealthWatch& watch) {
  MutexLock lock(mutex_);
  watches_.erase(&watch);
}

}  // namespace gdnplan::server
