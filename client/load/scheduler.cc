// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/scheduler.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gdnplan/plan/status.h"

namespace gdnplan::load {
namespace {

// Order of rows that work on prompts.
enum class PromptKind { kShortEnd, kContinued, kFresh };
constexpr PromptKind kPromptKinds[] = {PromptKind::kShortEnd, PromptKind::kContinued,
                                       PromptKind::kFresh};

}  // namespace

absl::StatusOr<std::unique_ptr<Scheduler>> Scheduler::Create(std::vector<Request> requests,
                                                             const SchedulerOptions& options) {
  GDNPLAN_RETURN_IF_ERROR(ValidateOptions(options));
  GDNPLAN_RETURN_IF_ERROR(ValidateRequests(options, requests));
  return std::unique_ptr<Scheduler>(new Scheduler(std::move(requests), options));
}

Scheduler::Scheduler(std::vector<Request> requests, const SchedulerOptions& options)
    : options_(options),
      config_(MakeConfig(options)),
      requests_(std::move(requests)),
      writer_(config_),
      blocks_(options),
      random_(options.seed),
      slots_(static_cast<size_t>(options.max_num_seqs)) {
  for (int32_t drafts = 1; drafts <= options.num_speculative_tokens; ++drafts) {
    acceptance_.push_back(std::pow(options.acceptance_rate, drafts));
  }
  for (int32_t slot = options.max_num_seqs; slot > 0; --slot) free_slots_.push_back(slot - 1);
  for (std::vector<ScheduledRow>* rows : {&rows_, &prompt_rows_}) rows->reserve(slots_.size());
  running_.reserve(slots_.size());
  preempted_.reserve(slots_.size());
  // The first hit of a slot may come late.
  for (Running& slot : slots_) slot.blocks.sources.reserve(static_cast<size_t>(options.groups));
}

bool Scheduler::Next(Step& step) {
  EndStep();
  if (!AwaitWork()) return false;
  ++stats_.steps;
  budget_ = config_.max_num_batched_tokens;
  preempted_now_ = false;
  ScheduleDecodes();
  SchedulePrompts();
  // Blocks that were just taken from someone are not for newcomers.
  if (!preempted_now_) ScheduleNew();
  OrderRows();
  writer_.Write(rows_, step.batch);
  step.due_s = now_s_;
  const double tokens = *step.batch.num_actual_tokens;
  now_s_ += options_.step_ms * 1e-3 + options_.step_us_per_token * 1e-6 * tokens;
  return true;
}

// A request's own, whatever the order in which requests run.
SharedPrefix Scheduler::PrefixOf(int32_t request) const {
  if (options_.prefix_rate == 0) return {};
  Random random(MixBits(options_.seed, static_cast<uint64_t>(request)));
  if (!random.Chance(options_.prefix_rate)) return {};
  const int32_t family = random.Between(0, options_.prefix_families - 1);
  const int32_t prompt = requests_[static_cast<size_t>(request)].prompt_tokens;
  // At least one token must be computed, for the first output token comes from it.
  const int32_t shared = std::min(
      prompt - 1, static_cast<int32_t>(static_cast<double>(prompt) * options_.prefix_fraction));
  return {.text = MixBits(~options_.seed, static_cast<uint64_t>(family)),
          .tokens = shared / options_.block_size * options_.block_size};
}

void Scheduler::EndStep() {
  for (const ScheduledRow& row : rows_) {
    Running& running = slots_[static_cast<size_t>(row.slot)];
    if (row.prefilling) {
      EndPrefill(running, row.len);
    } else {
      EndDecode(running);
    }
  }
  if (!rows_.empty()) RemoveFinished();
  rows_.clear();
}

void Scheduler::EndDecode(Running& running) {
  // One number for all drafts: that the first j are accepted has the probability rate^j.
  const double luck = random_.Uniform();
  int32_t accepted = 1;
  for (const double chance : acceptance_) accepted += luck < chance ? 1 : 0;
  running.num_accepted_tokens = accepted;
  const int32_t kept = std::min(accepted, request_of(running).output_tokens - running.outputs);
  running.computed += kept;
  running.outputs += kept;
  stats_.decode_tokens += kept;
  stats_.output_tokens += kept;
}

void Scheduler::EndPrefill(Running& running, int32_t len) {
  running.computed += len;
  stats_.prefill_tokens += len;
  blocks_.PrefillDone(running.request, running.prefix, running.computed, running.blocks);
  if (running.prefilling()) return;
  ++running.outputs;
  ++stats_.output_tokens;
  running.num_accepted_tokens = 1;
}

void Scheduler::RemoveFinished() {
  size_t kept = 0;
  for (const int32_t slot : running_) {
    Running& running = slots_[static_cast<size_t>(slot)];
    if (running.outputs < request_of(running).output_tokens) {
      running_[kept++] = slot;
      continue;
    }
    blocks_.Release(running.request, running.blocks);
    free_slots_.push_back(slot);
    ++stats_.finished_requests;
  }
  running_.resize(kept);
}

bool Scheduler::AwaitWork() {
  if (!running_.empty() || !preempted_.empty()) return true;
  if (next_arrival_ == requests_.size()) return false;
  now_s_ = std::max(now_s_, ArrivalOf(next_arrival_));
  return true;
}

// The budget suffices for all: ValidateOptions saw to it.
void Scheduler::ScheduleDecodes() {
  const int32_t len = config_.state_columns();
  for (size_t place = 0; place < running_.size();) {
    const int32_t slot = running_[place];
    const Running& running = slots_[static_cast<size_t>(slot)];
    if (!running.prefilling()) {
      // What gave way is no longer at its place.
      if (!MakeRoom(place, running.computed + len)) continue;
      AddRow(slot, len, rows_);
    }
    ++place;
  }
}

void Scheduler::SchedulePrompts() {
  for (size_t place = 0; place < running_.size() && budget_ > 0;) {
    const int32_t slot = running_[place];
    const Running& running = slots_[static_cast<size_t>(slot)];
    if (running.prefilling()) {
      const int32_t len = PromptTokens(running);
      if (!MakeRoom(place, running.computed + len)) continue;
      AddRow(slot, len, prompt_rows_);
    }
    ++place;
  }
}

void Scheduler::ScheduleNew() {
  while (budget_ > 0 && !free_slots_.empty()) {
    if (!preempted_.empty()) {
      if (!Start(preempted_.back())) return;
      preempted_.pop_back();
    } else {
      if (next_arrival_ == requests_.size() || ArrivalOf(next_arrival_) > now_s_) return;
      if (!Start({static_cast<int32_t>(next_arrival_), 0})) return;
      ++next_arrival_;
    }
  }
}

bool Scheduler::Start(Preempted what) {
  const int32_t slot = free_slots_.back();
  Running& running = slots_[static_cast<size_t>(slot)];
  running.request = what.request;
  running.outputs = what.outputs;
  running.prompt_end = request_of(running).prompt_tokens + what.outputs;
  running.num_accepted_tokens = 1;
  running.prefix = PrefixOf(what.request);
  const int32_t cached = blocks_.CachedTokens(running.prefix);
  running.computed = cached;
  const int32_t len = PromptTokens(running);
  if (!blocks_.Admit(what.request, running.prefix, cached, cached + len, running.blocks)) {
    return false;
  }
  stats_.cached_tokens += cached;
  free_slots_.pop_back();
  running_.push_back(slot);
  AddRow(slot, len, prompt_rows_);
  return true;
}

int32_t Scheduler::PromptTokens(const Running& running) const {
  int32_t len = std::min(running.prompt_end - running.computed, budget_);
  if (options_.long_prefill_threshold > 0) len = std::min(len, options_.long_prefill_threshold);
  const int32_t end = running.computed + len;
  // A state exists only where a step ends: it ends where others can go on from.
  if (running.computed < running.prefix.tokens && running.prefix.tokens < end) {
    return running.prefix.tokens - running.computed;
  }
  if (options_.mamba_cache_mode == plan::MambaCacheMode::kAlign && end < running.prompt_end) {
    const int32_t aligned = end / options_.block_size * options_.block_size;
    if (aligned > running.computed) return aligned - running.computed;
  }
  return len;
}

// A request alone has room, for ValidateRequests saw to it; and the oldest that runs can send all
// others away or finds the step not empty, so something always goes on.
bool Scheduler::MakeRoom(size_t place, int32_t seq_len) {
  Running& running = slots_[static_cast<size_t>(running_[place])];
  while (!blocks_.Grow(running.request, seq_len, running.blocks)) {
    size_t newest = running_.size() - 1;
    const auto in_step = [&](size_t at) {
      return slots_[static_cast<size_t>(running_[at])].last_step == stats_.steps;
    };
    while (in_step(newest)) --newest;
    Preempt(newest);
    if (newest == place) return false;
  }
  return true;
}

void Scheduler::Preempt(size_t place) {
  const int32_t slot = running_[place];
  Running& running = slots_[static_cast<size_t>(slot)];
  blocks_.Release(running.request, running.blocks);
  preempted_.push_back({running.request, running.outputs});
  running_.erase(running_.begin() + static_cast<ptrdiff_t>(place));
  free_slots_.push_back(slot);
  preempted_now_ = true;
  ++stats_.preemptions;
  stats_.lost_tokens += running.computed;
}

void Scheduler::AddRow(int32_t slot, int32_t len, std::vector<ScheduledRow>& rows) {
  Running& running = slots_[static_cast<size_t>(slot)];
  running.last_step = stats_.steps;
  budget_ -= len;
  rows.push_back({.request = running.request,
                  .slot = slot,
                  .len = len,
                  .computed = running.computed,
                  .prefilling = running.prefilling(),
                  .num_accepted_tokens = running.num_accepted_tokens,
                  .blocks = &running.blocks});
}

void Scheduler::OrderRows() {
  const auto kind_of = [&](const ScheduledRow& row) {
    if (row.computed == 0) return PromptKind::kFresh;
    return row.len <= config_.state_columns() ? PromptKind::kShortEnd : PromptKind::kContinued;
  };
  for (const PromptKind kind : kPromptKinds) {
    for (const ScheduledRow& row : prompt_rows_) {
      if (kind_of(row) == kind) rows_.push_back(row);
    }
  }
  prompt_rows_.clear();
}

}  // namespace gdnplan::load
