// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// make_corpus GOLDEN_DIR OUTPUT_DIR: seeds for the fuzz targets, in
// OUTPUT_DIR/{batch,config,session}. scripts/fuzz --corpus adds those to the corpora that reach
// something new.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "client/json/golden.h"
#include "tests/fuzz/configs.h"
#include "tests/testing/random_batch.h"
#include "wire/convert.h"

namespace gdnplan::test {
namespace {

namespace fs = std::filesystem;

constexpr int kRandomBatches = 60;  // for each configuration
constexpr int kRandomConfigs = 60;
constexpr int kRandomSessions = 200;

class Folder {
 public:
  explicit Folder(const fs::path& path) : path_(path) { fs::create_directories(path); }

  void Add(const std::string& bytes) {
    std::ofstream(path_ / std::to_string(count_++), std::ios::binary) << bytes;
  }

 private:
  const fs::path path_;
  int count_ = 0;
};

void AddBatch(size_t config, const json::OwnedBatch& batch, Folder& folder) {
  v1::Batch message;
  wire::ToProto(batch.view(), message);
  folder.Add(static_cast<char>(config) + message.SerializeAsString());
}

// A batch goes with each configuration of its shape, be it accepted or not.
void AddGolden(const json::GoldenCase& golden, Folder& batches, Folder& configs) {
  configs.Add(wire::ToProto(golden.config, 1).SerializeAsString());
  for (size_t i = 0; i < FuzzConfigs().size(); ++i) {
    const plan::PlanConfig& config = FuzzConfigs()[i];
    if (config.num_speculative_tokens == golden.config.num_speculative_tokens &&
        config.num_groups() == golden.config.num_groups()) {
      AddBatch(i, golden.batch, batches);
    }
  }
}

// Opens a session of each kind, then makes calls: mostly plans, with few edits.
std::string RandomSession(int seed) {
  Random random(static_cast<uint64_t>(seed));
  std::string bytes;
  const auto add = [&](int32_t value) { bytes.push_back(static_cast<char>(value)); };
  // Call, configuration, slots, kind, devices.
  for (int32_t value : {0, seed % 8, 1 + seed % 4, seed % 3, seed % 4}) add(value);
  const int32_t length = random.Between(20, 150);
  while (static_cast<int32_t>(bytes.size()) < length) {
    const int32_t call = random.Between(0, 15);
    add(call);
    add(0);  // the session, or the configuration
    const int32_t choices = call == 11 ? 5 : 6;
    // Call, place and values are small where they mean something.
    for (int32_t i = 0; i < choices; ++i) add(random.Between(0, random.Chance(80) ? 3 : 255));
  }
  return bytes;
}

int Make(const fs::path& golden_dir, const fs::path& output) {
  Folder batches(output / "batch");
  Folder configs(output / "config");
  Folder sessions(output / "session");
  for (const fs::directory_entry& entry : fs::directory_iterator(golden_dir)) {
    if (entry.path().extension() != ".jsonl") continue;
    const auto cases = json::ReadGoldenFile(entry.path());
    if (!cases.ok()) {
      std::fprintf(stderr, "make_corpus: %s\n", cases.status().ToString().c_str());
      return 1;
    }
    for (const json::GoldenCase& golden : *cases) AddGolden(golden, batches, configs);
  }
  Random random(1);
  for (size_t i = 0; i < FuzzConfigs().size(); ++i) {
    configs.Add(wire::ToProto(FuzzConfigs()[i], 1).SerializeAsString());
    for (int b = 0; b < kRandomBatches; ++b) {
      AddBatch(i, RandomBatch(FuzzConfigs()[i], random), batches);
    }
  }
  for (int c = 0; c < kRandomConfigs; ++c) {
    configs.Add(wire::ToProto(RandomConfig(random), random.Between(0, 65)).SerializeAsString());
  }
  for (int s = 0; s < kRandomSessions; ++s) sessions.Add(RandomSession(s));
  return 0;
}

}  // namespace
}  // namespace gdnplan::test

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: make_corpus GOLDEN_DIR OUTPUT_DIR\n");
    return 2;
  }
  return gdnplan::test::Make(argv[1], argv[2]);
}
