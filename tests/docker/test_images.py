# SPDX-FileCopyrightText: The gdnplan authors
# SPDX-License-Identifier: Apache-2.0
"""Dockerfile and compose files, beyond what their linters and schemas say."""
import re
import unittest

import deployment
from deployment import DOCKER, ROOT

DOCKERFILE = (DOCKER / "Dockerfile").read_text()


def argument(name):
    return re.search(rf"^ARG {name}=(.*)$", DOCKERFILE, re.MULTILINE).group(1)


class DockerfileTest(unittest.TestCase):
    def test_its_version_is_the_projects(self):
        self.assertEqual(argument("VERSION"), deployment.project_version())

    def test_both_bases_are_of_one_distribution(self):
        distribution, release = re.search(r"-(ubuntu|debian)([0-9.]+)$", argument("BUILD_BASE")).groups()
        self.assertTrue(argument("RUN_BASE").endswith(f"/{distribution}:{release}"))

    def test_variables_are_ones_that_the_programs_read(self):
        used = set(re.findall(r"\b(GDNPLAN_[A-Z_]+)=", DOCKERFILE))
        # Options of CMake have the same beginning.
        used -= set(re.findall(r"-D(GDNPLAN_[A-Z_]+)=", DOCKERFILE))
        self.assertEqual(used, {"GDNPLAN_LISTEN", "GDNPLAN_SERVER"})
        self.assertLess(used, deployment.variables_of_programs())

    def test_what_is_copied_is_not_ignored(self):
        ignored = [line.strip("/") for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("/")]
        for source in ("scripts/setup", "LICENSE", "docker/stage", "CMakeLists.txt"):
            self.assertTrue((ROOT / source).exists())
            self.assertNotIn(source, ignored)
            self.assertNotIn(source.split("/")[0], ignored)


class ComposeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.services = deployment.load(DOCKER / "compose.yaml")["services"]
        cls.gpu = deployment.load(DOCKER / "compose.gpu.yaml")["services"]

    def test_containers_have_no_more_rights_than_they_need(self):
        for name, service in {**self.services}.items():
            with self.subTest(name):
                self.assertEqual(service["user"], "10001:10001")
                self.assertTrue(service["read_only"])
                self.assertEqual(service["cap_drop"], ["ALL"])
                for field in ("privileged", "ipc", "pid", "cap_add", "devices"):
                    self.assertNotIn(field, {**service, **self.gpu.get(name, {})})

    def test_socket_and_shared_memory_are_shared(self):
        for name, service in self.services.items():
            with self.subTest(name):
                self.assertLessEqual({"socket:/run/gdnplan", "shm:/dev/shm"}, set(service["volumes"]))

    def test_targets_and_examples_exist(self):
        targets = set(re.findall(r"^FROM \S+ AS (\w+)$", DOCKERFILE, re.MULTILINE))
        for service in self.services.values():
            self.assertIn(service["build"]["target"], targets)
            self.assertTrue((DOCKER / service["build"]["context"] / service["build"]["dockerfile"]).exists())
        for example in ("scheduler", "worker"):
            self.assertIn(f"/usr/lib/gdnplan/examples/{example}", self.services[example]["command"][0])
            self.assertTrue((ROOT / "client/examples" / f"{example}.cc").exists())

    def test_the_gpu_file_changes_services_that_there_are(self):
        self.assertEqual(self.gpu.keys(), self.services.keys())
        for name, service in self.gpu.items():
            self.assertEqual(service["build"]["args"]["BUILD_BASE"], argument("BUILD_BASE"))
            self.assertEqual(service["build"]["args"]["RUN_BASE"], argument("RUN_BASE"))
            # Whoever maps memory has to have the GPU.
            self.assertEqual("deploy" in service, name != "scheduler")
        self.assertEqual(self.services["server"]["environment"]["GDNPLAN_DEVICE"], "host")
        self.assertEqual(self.gpu["server"]["environment"]["GDNPLAN_DEVICE"], "cuda")


if __name__ == "__main__":
    unittest.main()
