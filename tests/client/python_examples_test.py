# SPDX-FileCopyrightText: The gdnplan authors
# SPDX-License-Identifier: Apache-2.0
"""python_examples_test.py SERVER STUBS EXAMPLES: the Python examples with the real server, on the host device."""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SERVER, STUBS, EXAMPLES = sys.argv[1:4]
NOT_HERE = 77  # ctest's SKIP_RETURN_CODE


class PythonExamplesTest(unittest.TestCase):
    def setUp(self):
        self._directory = tempfile.TemporaryDirectory()
        self.address = f"unix:{self._directory.name}/x.sock"
        self.server = subprocess.Popen([SERVER, "--device=host", f"--listen={self.address}"],
                                       text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertIn("serving on", self.server.stdout.readline())

    def tearDown(self):
        self.server.terminate()
        self.server.communicate(timeout=30)
        self._directory.cleanup()

    def run_example(self, *arguments):
        environment = dict(os.environ, PYTHONPATH=STUBS, PYTHONDONTWRITEBYTECODE="1")
        return subprocess.run([sys.executable, f"{EXAMPLES}/scheduler.py", *arguments],
                              text=True, capture_output=True, timeout=60, env=environment)

    def test_worker_reads_what_the_scheduler_asked_for(self):
        result = self.run_example(self.address, "5")
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual(lines[0], {"attached": True, "device": "host"})
        # One slot: each plan but the first waits until the one before was handed back.
        self.assertEqual(lines[1:], [{"plan": step + 1, "non_spec_query_start_loc": [0, 1, 2, 66],
                                      "non_spec_state_indices": [7, 10 + step, 5], "chunk_offsets": [0, 1],
                                      "consumed": step + 1} for step in range(5)])
        self.server.terminate()
        _, log = self.server.communicate(timeout=30)
        self.assertIn("session closed: session=1 plans=5", log)

    def test_usage(self):
        result = self.run_example(self.address, "many")
        self.assertEqual(result.returncode, 1)
        self.assertIn("usage: scheduler.py ADDRESS STEPS", result.stderr)


class ArenaTest(unittest.TestCase):
    """Without a server: a session described by hand over a file of shared memory."""

    def setUp(self):
        sys.dont_write_bytecode = True
        sys.path[:0] = [STUBS, EXAMPLES]
        from gdnplan.v1 import plan_pb2, session_pb2
        from gdnplan_arena import Arena

        self.plan_pb2, self.session_pb2, self.arena = plan_pb2, session_pb2, Arena
        self.path = pathlib.Path(f"/dev/shm/gdnplan-python-test-{os.getpid()}")
        self.addCleanup(self.path.unlink, missing_ok=True)

    def map(self, content, **handle):
        self.path.write_bytes(content)
        memory = self.session_pb2.MemoryHandle(
            posix_shared_memory=self.session_pb2.MemoryHandle.PosixSharedMemory(name=f"/{self.path.name}"), **handle)
        tensors = [self.session_pb2.TensorDescription(id=3, name="ids", dtype=self.session_pb2.DTYPE_INT32, per_group=True),
                   self.session_pb2.TensorDescription(id=4, name="masks", dtype=self.session_pb2.DTYPE_UINT8)]
        timeline = self.session_pb2.Timeline(ready_offset=0, consumed_offset=8, stride=16)
        return self.arena(self.session_pb2.SessionDescription(
            arenas=[self.session_pb2.Arena(memory=memory)], tensors=tensors, timeline=timeline, num_groups=2))

    def test_tensors_and_timeline(self):
        words = [0, 0, 0, 0, 9, 0, 0, 0] + [1, -2, 3, 4, 5, -6]
        content = b"offset.." + b"".join(word.to_bytes(4, "little", signed=True) for word in words) + bytes([1, 0, 1])
        arena = self.map(content, offset=8, size=len(content) - 8)
        plan = self.plan_pb2.Plan(plan_id=9, slot=1, timeline_value=9, tensors=[
            self.plan_pb2.PlacedTensor(tensor=3, offset=32, shape=[1, 3], group_stride=12),
            self.plan_pb2.PlacedTensor(tensor=4, offset=56, shape=[3])])
        arena.wait_ready(plan)
        self.assertEqual(arena.tensor(plan, "ids").tolist(), [1, -2, 3])
        self.assertEqual(arena.tensor(plan, "ids", 1).tolist(), [4, 5, -6])
        self.assertEqual(arena.tensor(plan, "ids", 1).shape, (1, 3))
        self.assertEqual(arena.tensor(plan, "masks").tolist(), [1, 0, 1])
        self.assertRaises(IndexError, arena.tensor, plan, "ids", 2)
        self.assertRaises(KeyError, arena.tensor, plan, "idx")
        self.assertIsNone(arena.tensor(self.plan_pb2.Plan(), "ids"))
        self.assertFalse(hasattr(arena.tensor(plan, "ids"), "__cuda_array_interface__"))
        interface = arena.tensor(plan, "ids", 1).__array_interface__
        self.assertEqual((interface["shape"], interface["typestr"]), ((1, 3), "<i4"))
        arena.mark_consumed(plan)
        self.assertEqual(self.path.read_bytes()[32:40], (9).to_bytes(8, "little"))
        plan.timeline_value = 10
        self.assertRaises(TimeoutError, arena.wait_ready, plan, timeout_s=0.01)
        arena.close()

    def test_an_object_that_is_smaller_is_not_mapped(self):
        self.assertRaises(ValueError, self.map, bytes(64), offset=0, size=65)


if __name__ == "__main__":
    if importlib.util.find_spec("grpc") is None or importlib.util.find_spec("google.protobuf") is None:
        print("skipped: no python3-grpcio and python3-protobuf here (scripts/setup --with-checks)")
        sys.exit(NOT_HERE)
    unittest.main(argv=sys.argv[:1], verbosity=2)
