// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A batch as the document that ReadBatch reads (batch_json.h).
#pragma once

#include <nlohmann/json.hpp>

#include "client/json/owned_batch.h"
#include "gdnplan/plan/config.h"

namespace gdnplan::json {

nlohmann::ordered_json WriteBatch(const plan::PlanConfig& config, const OwnedBatch& batch);

}  // namespace gdnplan::json
