// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/endpoint.h"

#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/metrics/address.h"

namespace gdnplan::server {
namespace {

// Scrapes come one after the other, but a connection that says nothing keeps a thread for a while.
constexpr char kThreads[] = "8";
constexpr char kRequestTimeoutMs[] = "500";

}  // namespace

MetricsEndpoint::MetricsEndpoint(std::unique_ptr<prometheus::Exposer> exposer,
                                 std::shared_ptr<prometheus::Collectable> metrics)
    : metrics_(std::move(metrics)), exposer_(std::move(exposer)) {}

absl::StatusOr<std::unique_ptr<MetricsEndpoint>> MetricsEndpoint::Open(
    const std::string& address, std::shared_ptr<prometheus::Collectable> metrics) {
  if (const auto parsed = ParseMetricsAddress(address); !parsed.ok()) return parsed.status();
  try {
    auto exposer = std::make_unique<prometheus::Exposer>(
        std::vector<std::string>{"listening_ports", address, "num_threads", kThreads,
                                 "request_timeout_ms", kRequestTimeoutMs});
    exposer->RegisterCollectable(metrics);
    return std::unique_ptr<MetricsEndpoint>(
        new MetricsEndpoint(std::move(exposer), std::move(metrics)));
  } catch (const std::exception&) {
    // Its text says no more.
    return absl::FailedPreconditionError(
        absl::StrCat("metrics-listen: cannot listen on ", address,
                     "; is the port in use, or the host none of this machine's?"));
  }
}

}  // namespace gdnplan::server
