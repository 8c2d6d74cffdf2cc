// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Plans a batch of one decode and one prefill of 150 tokens, and prints its chunks:
//   ten_lines [ADDRESS]
#include <array>
#include <cstdio>

#include "gdnplan/client/client.h"

namespace {

using gdnplan::client::Client;

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "ten_lines: %s\n", status.ToString().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  gdnplan::plan::PlanConfig config;
  config.max_num_seqs = 16;
  config.max_num_batched_tokens = 1024;
  config.groups = {{.name = "linear_attention"}};

  const std::array<int32_t, 3> query_start_loc = {0, 1, 151};
  const std::array<int32_t, 2> seq_lens = {40, 150};
  const std::array<uint8_t, 2> is_prefilling = {0, 1};
  const std::array<int32_t, 2> block_ids = {7, 9};
  const std::array<gdnplan::plan::BlockTableView, 1> block_tables = {{{block_ids, 1}}};
  gdnplan::plan::BatchView batch;
  batch.query_start_loc = query_start_loc;
  batch.seq_lens = seq_lens;
  batch.is_prefilling = is_prefilling;
  batch.block_tables = block_tables;

  auto client = Client::Connect(argc > 1 ? argv[1] : "");
  if (!client.ok()) return Fail(client.status());
  auto session = client->OpenSession(config, {.name = "ten_lines"});
  if (!session.ok()) return Fail(session.status());
  auto plan = session->Plan(batch, {.wait_complete = true});
  if (!plan.ok()) return Fail(plan.status());
  auto chunks = plan->Tensor<int32_t>("chunk_indices");
  if (!chunks.ok()) return Fail(chunks.status());

  std::printf("%d prefill, %d decode\n", plan->counts().num_prefills, plan->counts().num_decodes);
  for (int64_t i = 0; i < chunks->dims()[0]; ++i) {
    std::printf("row %d, chunk %d\n", chunks->at(i, 0), chunks->at(i, 1));
  }
  return 0;
}
