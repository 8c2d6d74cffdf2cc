# SPDX-FileCopyrightText: The gdnplan authors
# SPDX-License-Identifier: Apache-2.0
"""The chart, rendered by Helm's own engine, and the plain manifests."""
import json
import unittest

import helm_python
import jsonschema
import kubernetes_validate

import deployment
import pod_security
from deployment import CASES, CHART, DOCKER, PLAIN, by_kind, containers, objects, pod_spec, render, values

# The oldest that the chart's kubeVersion takes and the newest that there are schemas for.
KUBERNETES = ("1.27", kubernetes_validate.latest_version())
ENGINES = ("engine-socket", "engine-tcp")
# The operator's kinds are in no Kubernetes schema; this one has the fields that the chart uses.
POD_MONITOR = json.loads((DOCKER.parent / "tests/docker/pod_monitor.schema.json").read_text())


def validate(item, version):
    if item["apiVersion"] == "monitoring.coreos.com/v1":
        jsonschema.validate(item, POD_MONITOR)
    else:
        kubernetes_validate.validate(item, version, strict=True)


def merged(base, **changes):
    """`base` with dictionaries of `changes` laid over its own, as Helm does."""
    out = dict(base)
    for key, value in changes.items():
        out[key] = merged(out.get(key, {}), **value) if isinstance(value, dict) else value
    return out


class SchemaTest(unittest.TestCase):
    def test_helm_finds_nothing_to_complain_of(self):
        for case in CASES:
            with self.subTest(case):
                report = helm_python.lint(CHART, values(case), strict=True)
                self.assertEqual(report["errors"], [])
                # Of severity 1: that there is no icon.
                self.assertEqual([message for message in report["messages"] if message["severity"] > 1], [])

    def test_what_is_rendered_is_what_kubernetes_takes(self):
        for case in CASES:
            for item in objects(render(values(case))):
                for version in KUBERNETES:
                    with self.subTest(f"{case} {item['kind']} {version}"):
                        validate(item, version)

    def test_the_check_can_fail(self):
        daemonset = by_kind(render(values("socket")))["DaemonSet"]
        daemonset["spec"]["template"]["spec"]["containers"][0]["readinessProb"] = {}
        for version in KUBERNETES:
            with self.assertRaises(kubernetes_validate.ValidationError):
                validate(daemonset, version)
        monitor = by_kind(render(values("socket")))["PodMonitor"]
        monitor["spec"]["podMetricsEndpoints"][0]["prot"] = "metrics"
        with self.assertRaises(jsonschema.ValidationError):
            validate(monitor, KUBERNETES[0])

    def test_the_plain_manifests_are_the_rendering(self):
        for case in PLAIN:
            with self.subTest(case):
                self.assertEqual((DOCKER / "kubernetes" / f"{case}.yaml").read_text(), deployment.plain(case),
                                 "run scripts/check-deploy --render")

    def test_the_example_engines_are_what_kubernetes_takes(self):
        for name in ENGINES:
            for version in KUBERNETES:
                with self.subTest(f"{name} {version}"):
                    validate(deployment.load(DOCKER / "kubernetes" / f"{name}.yaml"), version)


class ValuesTest(unittest.TestCase):
    def assert_refused(self, text, given):
        with self.assertRaises(helm_python.HelmError) as caught:
            render(given)
        self.assertIn(text, str(caught.exception))

    def test_contradictions_are_refused_with_their_reason(self):
        self.assert_refused("socket.enabled or tcp.enabled", {"socket": {"enabled": False}})
        self.assert_refused("tcp needs tls.secretName, or insecure", {"tcp": {"enabled": True}})
        self.assert_refused("exclude each other",
                            {"tcp": {"enabled": True, "insecure": True, "tls": {"secretName": "x"}}})
        self.assert_refused("clientCertificates needs", merged(values("tcp"), tcp={"tls": {"clientCertificates": True}}))
        self.assert_refused("podMonitor.enabled needs", {"metrics": {"enabled": False, "podMonitor": {"enabled": True}}})
        self.assert_refused("needs sharedMemory.hostPath", {"gpu": {"enabled": False}})
        self.assert_refused("other values of the chart set it", {"config": {"GDNPLAN_LISTEN": "0.0.0.0:1"}})

    def test_the_schema_refuses_what_no_template_reads(self):
        self.assert_refused("'imag'", {"imag": {}})
        self.assert_refused("/tcp/port", {"tcp": {"port": "grpc"}})
        self.assert_refused("/socket/hostPath", {"socket": {"hostPath": "run"}})
        self.assert_refused("LD_PRELOAD", {"config": {"LD_PRELOAD": "x"}})

    def test_names_follow_the_release(self):
        names = {item["metadata"]["name"] for item in objects(render({}, name="a"))}
        self.assertEqual(names, {"a-gdnplan"})
        names = {item["metadata"]["name"] for item in objects(render({"fullnameOverride": "b"}, name="a"))}
        self.assertEqual(names, {"b"})

    def test_the_server_and_its_version_are_the_projects(self):
        with helm_python.Chart.load(CHART) as chart:
            self.assertEqual(chart.metadata["appVersion"], deployment.project_version())

    def test_every_variable_is_one_that_the_programs_read(self):
        known = deployment.variables_of_programs()
        used = set()
        for case in CASES:
            used |= by_kind(render(values(case)))["ConfigMap"]["data"].keys()
        self.assertEqual(used - known, set())
        self.assertLess({"GDNPLAN_LISTEN", "GDNPLAN_TLS_CLIENT_CA", "GDNPLAN_TOKEN_FILE"}, used)


class DaemonSetTest(unittest.TestCase):
    def spec(self, case, **changes):
        return pod_spec(by_kind(render(merged(values(case), **changes)))["DaemonSet"])

    def probes(self, spec):
        return [spec["containers"][0][name] for name in ("startupProbe", "readinessProbe", "livenessProbe")]

    def test_pod_security(self):
        self.assertEqual(pod_security.restricted(self.spec("tcp")), set())
        # A host path is the whole difference, and the right to make it the server's.
        self.assertEqual(pod_security.baseline(self.spec("socket")), {"hostPath"})
        self.assertEqual(pod_security.restricted(self.spec("socket")),
                         {"hostPath", "volume type", "capabilities", "runAsNonRoot", "runAsUser"})
        for name, want in (("engine-socket", {"hostPath", "volume type"}), ("engine-tcp", set())):
            self.assertEqual(pod_security.restricted(pod_spec(deployment.load(DOCKER / "kubernetes" / f"{name}.yaml"))),
                             want)

    def test_the_pod_security_check_can_fail(self):
        spec = self.spec("tcp")
        spec["hostIPC"] = True
        spec["containers"][0]["securityContext"] = {"privileged": True}
        self.assertEqual(pod_security.baseline(spec), {"hostIPC", "privileged"})
        self.assertLess({"allowPrivilegeEscalation", "capabilities"}, pod_security.restricted(spec))

    def test_roots_are_read_only_and_no_namespace_is_the_nodes(self):
        for case in CASES:
            spec = self.spec(case)
            for name in ("hostIPC", "hostPID", "hostNetwork"):
                self.assertNotIn(name, spec)
            for container in containers(spec):
                self.assertTrue(container["securityContext"]["readOnlyRootFilesystem"])

    def test_an_update_replaces_the_server_of_a_node_and_lets_it_drain(self):
        daemonset = by_kind(render(values("everything")))["DaemonSet"]
        self.assertEqual(daemonset["spec"]["updateStrategy"],
                         {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}})
        drain = by_kind(render(values("everything")))["ConfigMap"]["data"]["GDNPLAN_DRAIN"]
        self.assertEqual(drain, "20")
        self.assertEqual(pod_spec(daemonset)["terminationGracePeriodSeconds"], 30)

    def test_a_changed_setting_restarts_the_servers(self):
        def checksum(**changes):
            daemonset = by_kind(render(merged(values("socket"), **changes)))["DaemonSet"]
            return daemonset["spec"]["template"]["metadata"]["annotations"]["checksum/config"]
        self.assertEqual(checksum(), checksum())
        self.assertNotEqual(checksum(), checksum(config={"GDNPLAN_POLL": "never"}))

    def test_probes_go_by_the_way_that_is_there(self):
        for probe in self.probes(self.spec("tcp")):
            self.assertEqual(probe["grpc"], {"port": 50051})
        # Kubelet's speaks neither TLS nor Unix sockets.
        for case in ("socket", "everything"):
            for probe in self.probes(self.spec(case)):
                self.assertEqual(probe["exec"]["command"], ["gdnplan", "health", "--connect-timeout=2"])
        startup = self.probes(self.spec("socket"))[0]
        self.assertEqual(startup["periodSeconds"] * startup["failureThreshold"], 120)

    def test_gpus_are_seen_and_not_taken(self):
        spec = self.spec("socket")
        self.assertEqual(spec["runtimeClassName"], "nvidia")
        self.assertIn({"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}, spec["containers"][0]["env"])
        self.assertNotIn("nvidia.com/gpu", json.dumps(spec["containers"][0]["resources"]))
        self.assertEqual(spec["nodeSelector"], {"nvidia.com/gpu.present": "true"})
        spec = self.spec("everything")
        self.assertEqual(spec["nodeSelector"], {"nvidia.com/gpu.present": "true", "example.com/pool": "h200"})
        self.assertEqual(len(spec["tolerations"]), 2)
        spec = self.spec("host")
        for name in ("runtimeClassName", "nodeSelector", "tolerations"):
            self.assertNotIn(name, spec)
        self.assertNotIn("env", spec["containers"][0])

    def test_secrets_are_not_for_everybody(self):
        volumes = {volume["name"]: volume for volume in self.spec("everything")["volumes"]}
        for name in ("tls", "token"):
            self.assertEqual(volumes[name]["secret"]["defaultMode"], 0o440)


class NetworkTest(unittest.TestCase):
    def test_a_call_stays_on_its_node(self):
        service = by_kind(render(values("tcp")))["Service"]
        self.assertEqual(service["spec"]["internalTrafficPolicy"], "Local")
        self.assertNotIn("Service", by_kind(render(values("socket"))))

    def test_only_clients_and_the_monitoring_get_in_and_nothing_out(self):
        policy = by_kind(render(values("tcp")))["NetworkPolicy"]["spec"]
        self.assertEqual(policy["policyTypes"], ["Ingress", "Egress"])
        self.assertNotIn("egress", policy)
        self.assertEqual([rule["ports"][0]["port"] for rule in policy["ingress"]], ["grpc", "metrics"])
        closed = by_kind(render(merged(values("socket"), metrics={"enabled": False, "podMonitor": {"enabled": False}})))
        self.assertNotIn("ingress", closed["NetworkPolicy"]["spec"])

    def test_the_monitorings_job_has_the_name_that_its_rules_know(self):
        kinds = by_kind(render(values("socket")))
        label = kinds["PodMonitor"]["spec"]["jobLabel"]
        self.assertEqual(kinds["DaemonSet"]["spec"]["template"]["metadata"]["labels"][label], "gdnplan")
        for name in ("alerts.yaml", "dashboard.json"):
            self.assertRegex((DOCKER / "monitoring" / name).read_text(), r'job="?\\?"?gdnplan')

    def test_selectors_meet_labels(self):
        for case in CASES:
            kinds = by_kind(render(values(case)))
            template = kinds["DaemonSet"]["spec"]["template"]
            labels = template["metadata"]["labels"].items()
            self.assertLessEqual(kinds["DaemonSet"]["spec"]["selector"]["matchLabels"].items(), labels)
            if "Service" in kinds:
                self.assertLessEqual(kinds["Service"]["spec"]["selector"].items(), labels)
                self.assertIn(kinds["Service"]["spec"]["ports"][0]["targetPort"],
                              [port["name"] for port in template["spec"]["containers"][0]["ports"]])
            for kind, field in (("NetworkPolicy", "podSelector"), ("PodMonitor", "selector")):
                if kind in kinds:
                    self.assertLessEqual(kinds[kind]["spec"][field]["matchLabels"].items(), labels)

    def test_the_example_engines_find_their_nodes_planner(self):
        def address(name):
            spec = pod_spec(deployment.load(DOCKER / "kubernetes" / f"{name}.yaml"))
            return spec, {variable["name"]: variable["value"] for variable in spec["containers"][0]["env"]}["GDNPLAN_SERVER"]
        spec, server = address("engine-socket")
        socket = {volume["name"]: volume for volume in self.daemonset("socket")["volumes"]}["socket"]
        self.assertEqual(server, "unix:/run/gdnplan/gdnplan.sock")
        self.assertEqual(spec["volumes"][0]["hostPath"]["path"], socket["hostPath"]["path"])
        self.assertIn(self.daemonset("socket")["securityContext"]["runAsGroup"], spec["securityContext"]["supplementalGroups"])
        _, server = address("engine-tcp")
        service = by_kind(render(values("tcp")))["Service"]
        self.assertEqual(server, f"{service['metadata']['name']}.{service['metadata']['namespace']}.svc:"
                                 f"{service['spec']['ports'][0]['port']}")

    def daemonset(self, case):
        return pod_spec(by_kind(render(values(case)))["DaemonSet"])


if __name__ == "__main__":
    unittest.main()
