// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Where Prometheus fetches metrics: HTTP, /metrics.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/exposer.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace gdnplan::server {

// Serves from Open until it goes.
class MetricsEndpoint {
 public:
  // `address` as ParseMetricsAddress takes it. InvalidArgument or FailedPrecondition, naming the
  // flag.
  static absl::StatusOr<std::unique_ptr<MetricsEndpoint>> Open(
      const std::string& address, std::shared_ptr<prometheus::Collectable> metrics);

  int port() const { return exposer_->GetListeningPorts().front(); }

 private:
  MetricsEndpoint(std::unique_ptr<prometheus::Exposer> exposer,
                  std::shared_ptr<prometheus::Collectable> metrics);

  // The exposer looks at it as long as it is there.
  const std::shared_ptr<prometheus::Collectable> metrics_;
  const std::unique_ptr<prometheus::Exposer> exposer_;
};

}  // namespace gdnplan::server
