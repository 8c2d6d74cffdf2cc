// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/endpoint.h"

#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gdnplan/plan/status.h"
#include "server/listen_address.h"

namespace gdnplan::server {
namespace {

// Scrapes come one after the other.
constexpr size_t kThreads = 1;

}  // namespace

MetricsEndpoint::MetricsEndpoint(std::unique_ptr<prometheus::Exposer> exposer,
                                 std::shared_ptr<prometheus::Collectable> metrics)
    : metrics_(std::move(metrics)), exposer_(std::move(exposer)) {}

absl::StatusOr<std::unique_ptr<MetricsEndpoint>> MetricsEndpoint::Open(
    const std::string& address, std::shared_ptr<prometheus::Collectable> metrics) {
  const absl::StatusOr<ListenAddress> parsed = ListenAddress::Parse(address);
  if (!parsed.ok() || parsed->is_unix() || !parsed->scheme.empty()) {
    return plan::InvalidField(
        "metrics-listen",
        absl::StrCat("needs IP:PORT, such as 127.0.0.1:9400 (got ", address, ")"));
  }
  try {
    auto exposer = std::make_unique<prometheus::Exposer>(address, kThreads);
    exposer->RegisterCollectable(metrics);
    return std::unique_ptr<MetricsEndpoint>(
        new MetricsEndpoint(std::move(exposer), std::move(metrics)));
  } catch (const std::exception&) {
    // Its text says no more.
    return absl::FailedPreconditionError(
        absl::StrCat("metrics-listen: cannot listen on ", address,
                     "; is the port in use, or the address not this machine's?"));
  }
}

}  // namespace gdnplan::server
