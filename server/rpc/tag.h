// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What a completion queue's events call.
#pragma once

namespace gdnplan::server {

class Tag {
 public:
  // Once for every operation that was started with the tag, on the queue's thread.
  virtual void Complete(bool ok) = 0;

 protected:
  ~Tag() = default;
};

// Calls a member function of whom it is a member of.
template <typename Owner, void (Owner::*kMethod)(bool)>
class MemberTag final : public Tag {
 public:
  explicit MemberTag(Owner& owner) : owner_(owner) {}
  void Complete(bool ok) override { (owner_.*kMethod)(ok); }

 private:
  Owner& owner_;
};

}  // namespace gdnplan::server
