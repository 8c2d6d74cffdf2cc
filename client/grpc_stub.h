// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <grpcpp/channel.h>

#include <memory>
#include <string>

#include "client/credentials.h"
#include "client/stub.h"

namespace gdnplan::client {

// As every connection of the library is set.
std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address,
                                           const Credentials& credentials);

// A connection of its own to `address`, made when it is first needed. Destroyed in a forked child
// it leaves the connection alone: tearing it down there could wait forever for the parent's
// threads.
std::shared_ptr<Stub> MakeGrpcStub(const std::string& address, const Credentials& credentials);

}  // namespace gdnplan::client
