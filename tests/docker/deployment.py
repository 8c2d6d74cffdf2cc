# SPDX-FileCopyrightText: The gdnplan authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of docker/ share: the repository's files, YAML read strictly, the chart rendered by Helm's engine.

As a program it writes the plain manifests of docker/kubernetes/ that are made from the chart.
"""
import pathlib
import re

import helm_python
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCKER = ROOT / "docker"
CHART = DOCKER / "helm" / "gdnplan"
# Values of docker/helm/gdnplan/ci/; the first two are rendered into docker/kubernetes/, too.
PLAIN = ("socket", "tcp")
CASES = PLAIN + ("everything", "host")
HEADER = """\
# SPDX-FileCopyrightText: The gdnplan authors
# SPDX-License-Identifier: Apache-2.0
# Made by scripts/check-deploy --render from docker/helm/gdnplan and its ci/{case}.yaml; edit those.
"""


class StrictLoader(yaml.SafeLoader):
    """Refuses a key that is there twice, of which YAML's libraries silently take one."""

    def construct_mapping(self, node, deep=False):
        keys = [key.value for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
        twice = {key for key in keys if keys.count(key) > 1}
        if twice:
            raise yaml.constructor.ConstructorError(None, None, f"twice: {sorted(twice)}", node.start_mark)
        return super().construct_mapping(node, deep)


def load_all(text):
    return [document for document in yaml.load_all(text, StrictLoader) if document]


def load(path):
    (document,) = load_all(path.read_text())
    return document


def values(case):
    return load(CHART / "ci" / f"{case}.yaml")


def render(given, name="gdnplan", namespace="gdnplan"):
    """The manifests, by template."""
    with helm_python.Chart.load(CHART) as chart:
        rendered = chart.render(given, name=name, namespace=namespace)
    return {pathlib.Path(path).name: text.strip() for path, text in sorted(rendered.items())
            if path.endswith(".yaml") and text.strip()}


def objects(manifests):
    return [document for text in manifests.values() for document in load_all(text)]


def by_kind(manifests):
    return {item["kind"]: item for item in objects(manifests)}


def plain(case):
    """The text of docker/kubernetes/CASE.yaml."""
    documents = [f"---\n{text}\n" for text in render(values(case)).values()]
    return HEADER.format(case=case) + "".join(documents)


def pod_spec(item):
    return item["spec"] if item["kind"] == "Pod" else item["spec"]["template"]["spec"]


def containers(spec):
    return spec.get("initContainers", []) + spec["containers"]


def variables_of_programs():
    """The environment variables that server and tool read."""
    sources = [*ROOT.glob("server/*.cc"), *ROOT.glob("client/tool/*.cc")]
    return {name for path in sources for name in re.findall(r'"(GDNPLAN_[A-Z_]+)"', path.read_text())}


def project_version():
    return re.search(r"project\(gdnplan VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


if __name__ == "__main__":
    for case in PLAIN:
        (DOCKER / "kubernetes" / f"{case}.yaml").write_text(plain(case))
