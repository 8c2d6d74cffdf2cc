// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/exchange_pipe.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "gdnplan/plan/status.h"
#include "tests/gpu/child_process.h"

namespace gdnplan::test {
namespace {

struct FrameHeader {
  uint64_t index;
  uint64_t bytes;
};

absl::Status WriteAll(int fd, const void* data, size_t bytes) {
  const auto* from = static_cast<const std::byte*>(data);
  while (bytes > 0) {
    const ssize_t written = write(fd, from, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoStatus("write to the other process");
    from += written;
    bytes -= static_cast<size_t>(written);
  }
  return absl::OkStatus();
}

// Whether all of it came; false: the other side had closed before the first byte.
absl::StatusOr<bool> ReadAll(int fd, void* data, size_t bytes) {
  auto* to = static_cast<std::byte*>(data);
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got = read(fd, to + done, bytes - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus("read from the other process");
    if (got == 0 && done == 0) return false;
    if (got == 0) return absl::AbortedError("the other process ended in mid-message");
    done += static_cast<size_t>(got);
  }
  return true;
}

}  // namespace

absl::Status SendFrame(int fd, uint64_t index, std::string_view payload) {
  const FrameHeader header = {.index = index, .bytes = payload.size()};
  GDNPLAN_RETURN_IF_ERROR(WriteAll(fd, &header, sizeof(header)));
  return WriteAll(fd, payload.data(), payload.size());
}

absl::StatusOr<std::optional<Frame>> ReceiveFrame(int fd) {
  FrameHeader header;
  GDNPLAN_ASSIGN_OR_RETURN(const bool open, ReadAll(fd, &header, sizeof(header)));
  if (!open) return std::nullopt;
  Frame frame{header.index, std::string(header.bytes, '\0')};
  if (header.bytes > 0) {
    GDNPLAN_ASSIGN_OR_RETURN(const bool whole, ReadAll(fd, frame.payload.data(), header.bytes));
    if (!whole) return absl::AbortedError("the other process ended in mid-message");
  }
  return frame;
}

absl::Status SendReply(int fd, const Reply& reply) { return WriteAll(fd, &reply, sizeof(reply)); }

absl::StatusOr<std::optional<Reply>> ReceiveReply(int fd, int timeout_ms) {
  pollfd poll_fd = {.fd = fd, .events = POLLIN, .revents = 0};
  const int ready = poll(&poll_fd, 1, timeout_ms);
  if (ready < 0 && errno != EINTR) return ErrnoStatus("poll");
  if (ready <= 0) return std::nullopt;
  Reply reply;
  GDNPLAN_ASSIGN_OR_RETURN(const bool open, ReadAll(fd, &reply, sizeof(reply)));
  if (!open) return absl::AbortedError("the worker ended");
  return reply;
}

}  // namespace gdnplan::test
