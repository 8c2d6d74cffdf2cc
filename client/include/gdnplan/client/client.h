// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A connection to a gdnplan server.
//
//   auto client = Client::Connect();
//   auto session = client->OpenSession(config);
//   auto plan = session->Plan(batch);
//   auto chunks = plan->Tensor<int32_t>("chunk_indices");
//   if (chunks.ok()) Use(chunks->at(0, 1));
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "gdnplan/client/session.h"
#include "gdnplan/client/types.h"
#include "gdnplan/plan/config.h"

namespace gdnplan::client {

class LeaseKeeper;
class Stub;

// Files in PEM, read again when they change. Of TCP only: on Unix sockets the server knows the
// caller by its user, and these are not used.
struct TlsOptions {
  std::string ca_file;      // that issues servers' certificates; empty: no TLS
  std::string cert_file;    // of this client, and its issuers, where the server asks for one
  std::string key_file;     // the certificate's
  std::string server_name;  // that the server's certificate must have; empty: the address's host
};

struct ClientOptions {
  // How long Connect tries while nobody listens. 0: one attempt.
  std::chrono::milliseconds connect_timeout{5'000};
  // Of every call but OpenSession; DeadlineExceeded after it.
  std::chrono::milliseconds call_deadline{10'000};
  // Of OpenSession, which allocates and clears memory.
  std::chrono::milliseconds open_deadline{60'000};
  TlsOptions tls = {};
  // Where the server asks for a bearer token: a file whose first line is one, read again when it
  // changes. Empty: none is sent.
  std::string token_file = {};
};

// A value: copies share the connection, and Sessions keep it. A thread of the connection renews the
// leases of its sessions, so that an idle engine keeps its own. Thread safe. Not usable after fork:
// calls in the child return FailedPrecondition, and the child connects anew.
class Client {
 public:
  // Connects and waits for the first answer. `address` as gRPC spells it ("unix:/path",
  // "host:port"); empty: the environment's GDNPLAN_SERVER, else the socket at which a server of
  // this user listens by default. Unavailable when nobody listens there, with the reason;
  // FailedPrecondition when it is no gdnplan server, or when a token would be sent through a
  // network without TLS; Unauthenticated when the server takes no call without another token;
  // InvalidArgument and others name a file of the options that is no good.
  static absl::StatusOr<Client> Connect(const std::string& address = {},
                                        const ClientOptions& options = {});

  // Over any implementation of the calls, such as a mock. See client/stub.h.
  explicit Client(std::shared_ptr<Stub> stub, const ClientOptions& options = {});

  // Opens a session and maps its arenas. Whatever fails after the opening closes it again.
  // InvalidArgument names the field; ResourceExhausted: a limit or a device's memory. Errors of
  // mapping: NotFound or PermissionDenied when this process cannot see the memory, Unimplemented
  // for a device that this build cannot map, FailedPrecondition for a stale one.
  absl::StatusOr<Session> OpenSession(const plan::PlanConfig& config,
                                      const SessionOptions& options = {}) const;
  // Joins a session that another process opened. NotFound: there is none with this id.
  absl::StatusOr<Session> AttachSession(const std::string& session_id,
                                        const AttachOptions& options = {}) const;

  absl::StatusOr<ServerInfo> GetServerInfo() const;
  absl::StatusOr<std::vector<SessionSummary>> ListSessions() const;

 private:
  std::shared_ptr<Stub> stub_;
  std::shared_ptr<LeaseKeeper> keeper_;
  ClientOptions options_;
};

}  // namespace gdnplan::client
