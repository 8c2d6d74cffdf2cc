# SPDX-FileCopyrightText: The gdnplan authors
# SPDX-License-Identifier: Apache-2.0
"""worker.py ADDRESS: reads a session's plans where the server wrote them.

Its scheduler (scheduler.py) starts it and writes lines to its standard input: the session's id, then each plan's record in
hexadecimal. For each it prints one line of JSON: the plan, the tensors that were asked for below, and the timeline value
that it has handed back. On a GPU it needs PyTorch.
"""
import json
import sys
import threading

import grpc

from gdnplan.v1 import plan_pb2, planner_pb2, planner_pb2_grpc
from gdnplan_arena import Arena

NAMES = ("non_spec_query_start_loc", "non_spec_state_indices", "chunk_offsets")


def values(tensor, memory):
    if tensor is None:
        return None
    if not memory.on_gpu:
        return tensor.tolist()
    import torch

    return torch.as_tensor(tensor, device=f"cuda:{memory.ordinal}").flatten().tolist()


def current_stream(memory):
    """An engine's: where its model's kernels go."""
    if not memory.on_gpu:
        return 0
    import torch

    return torch.cuda.current_stream(memory.ordinal).cuda_stream


def keep_attached(planner, request, every_s, stop):
    """While there is nothing to plan the attachment's lease would lapse."""
    while not stop.wait(every_s):
        try:
            planner.Heartbeat(request)
        except grpc.RpcError as error:
            print(f"worker.py: no heartbeat: {error.details()}", file=sys.stderr)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: worker.py ADDRESS")
    session_id = sys.stdin.readline().strip()
    with grpc.insecure_channel(sys.argv[1]) as channel:
        planner = planner_pb2_grpc.PlannerStub(channel)
        attached = planner.AttachSession(planner_pb2.AttachSessionRequest(session_id=session_id))
        device = attached.session.arenas[0].device.id
        attached = planner.AttachSession(planner_pb2.AttachSessionRequest(
            session_id=session_id, attachment_id=attached.attachment_id, consumer_of=[device]))
        stop = threading.Event()
        if attached.session.lease_ms > 0:
            heartbeat = planner_pb2.HeartbeatRequest(session_id=session_id, attachment_id=attached.attachment_id)
            threading.Thread(target=keep_attached, daemon=True,
                             args=(planner, heartbeat, attached.session.lease_ms / 3000, stop)).start()
        arena = Arena(attached.session)
        print(json.dumps({"attached": True, "device": device}), flush=True)
        for line in sys.stdin:
            plan = plan_pb2.Plan.FromString(bytes.fromhex(line))
            stream = current_stream(arena.memory)
            arena.wait_ready(plan, stream)
            tensors = {name: values(arena.tensor(plan, name), arena.memory) for name in NAMES}
            arena.mark_consumed(plan, stream)
            print(json.dumps({"plan": plan.plan_id, **tensors, "consumed": plan.timeline_value}), flush=True)
        stop.set()
        arena.close()
        planner.DetachSession(planner_pb2.DetachSessionRequest(
            session_id=session_id, attachment_id=attached.attachment_id))


if __name__ == "__main__":
    main()
