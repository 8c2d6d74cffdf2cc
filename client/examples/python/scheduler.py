# SPDX-FileCopyrightText: The gdnplan authors
# SPDX-License-Identifier: Apache-2.0
"""scheduler.py ADDRESS STEPS: an engine's scheduler in Python, with a worker in a process of its own (worker.py).

It opens a session, starts the worker, asks for one plan a step over a stream, hands each plan's record to the worker and
prints what that read. How to run it: docs/python.md.
"""
import pathlib
import queue
import subprocess
import sys

import grpc

from gdnplan.v1 import batch_pb2, config_pb2, planner_pb2, planner_pb2_grpc


def batch_of(step):
    """Two decodes, whose second state moves from step to step, and the first 64 tokens of a prompt."""
    return batch_pb2.Batch(query_start_loc=[0, 1, 2, 66], seq_lens=[100 + step, 200 + step, 64], is_prefilling=bytes([0, 0, 1]),
                           block_tables=[batch_pb2.BlockTable(width=1, block_ids=[7, 10 + step, 5])])


class Worker:
    """Another process, as an engine's model runner is."""

    def __init__(self, address, session_id):
        program = pathlib.Path(__file__).with_name("worker.py")
        self._process = subprocess.Popen([sys.executable, program, address], text=True, bufsize=1,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        print(self.tell(session_id))

    def tell(self, line):
        """What it answers."""
        self._process.stdin.write(line + "\n")
        answer = self._process.stdout.readline()
        if not answer:
            sys.exit(f"the worker ended with status {self._process.wait()}")
        return answer.rstrip("\n")

    def end(self):
        self._process.stdin.close()
        return self._process.wait()


class PlanStream:
    """One request after the other. A scheduler may as well have the next one under way before it takes an answer."""

    def __init__(self, planner, session_id):
        self._session_id = session_id
        self._requests = queue.SimpleQueue()
        self._tag = 0
        self._answers = planner.PlanStream(iter(self._requests.get, None))

    def plan(self, batch, promised):
        self._tag += 1
        self._requests.put(planner_pb2.PlanStreamRequest(
            session_id=self._session_id, tag=self._tag, batch=batch, consumption_promised=promised))
        answer = next(self._answers)
        if answer.HasField("error"):
            # The batch was refused, with the field and the rule; the stream lives on.
            raise ValueError(answer.error.message)
        return answer.plan

    def end(self):
        self._requests.put(None)
        for _ in self._answers:
            pass


def main():
    if len(sys.argv) != 3 or not sys.argv[2].isdigit():
        sys.exit("usage: scheduler.py ADDRESS STEPS")
    address, steps = sys.argv[1], int(sys.argv[2])
    config = config_pb2.SessionConfig(max_num_seqs=16, max_num_batched_tokens=1024,
                                      groups=[config_pb2.KvCacheGroup(name="linear_attention")])
    with grpc.insecure_channel(address) as channel:
        planner = planner_pb2_grpc.PlannerStub(channel)
        # The worker hands each slot back; its plan is not overwritten before.
        session = planner.OpenSession(
            planner_pb2.OpenSessionRequest(config=config, name="python", slot_reuse=planner_pb2.SLOT_REUSE_CONSUMED),
            timeout=30, wait_for_ready=True).session
        worker = Worker(address, session.session_id)
        stream = PlanStream(planner, session.session_id)
        promised = 0
        for step in range(steps):
            plan = stream.plan(batch_of(step), promised)
            print(worker.tell(plan.SerializeToString().hex()))
            # What the worker has answered it has enqueued its reads of. On a GPU the server cannot see that by itself.
            promised = plan.timeline_value
        stream.end()
        status = worker.end()
        planner.CloseSession(planner_pb2.CloseSessionRequest(session_id=session.session_id))
        sys.exit(status)


if __name__ == "__main__":
    main()
