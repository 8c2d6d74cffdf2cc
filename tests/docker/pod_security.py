# SPDX-FileCopyrightText: The gdnplan authors
# SPDX-License-Identifier: Apache-2.0
"""Kubernetes' Pod Security Standards: what of a pod's specification violates them, as words.

The controls of https://kubernetes.io/docs/concepts/security/pod-security-standards/ for Linux pods.
"""
from deployment import containers

# What containers have anyway.
BASELINE_CAPABILITIES = {
    "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP", "SETGID",
    "SETPCAP", "SETUID", "SYS_CHROOT"}
RESTRICTED_VOLUMES = {
    "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"}
SAFE_SYSCTLS = {
    "kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.ip_unprivileged_port_start", "net.ipv4.ping_group_range", "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_syncookies"}


def security(item):
    return item.get("securityContext", {})


def effective(spec, container, field):
    """The container's own word, else the pod's."""
    return security(container).get(field, security(spec).get(field))


def baseline(spec):
    found = set()
    for name in ("hostNetwork", "hostPID", "hostIPC"):
        if spec.get(name):
            found.add(name)
    if any("hostPath" in volume for volume in spec.get("volumes", [])):
        found.add("hostPath")
    for sysctl in security(spec).get("sysctls", []):
        if sysctl["name"] not in SAFE_SYSCTLS:
            found.add("sysctl " + sysctl["name"])
    for container in containers(spec):
        context = security(container)
        if context.get("privileged"):
            found.add("privileged")
        if set(context.get("capabilities", {}).get("add", [])) - BASELINE_CAPABILITIES:
            found.add("capabilities")
        if any(port.get("hostPort") for port in container.get("ports", [])):
            found.add("hostPort")
        if context.get("procMount", "Default") != "Default":
            found.add("procMount")
        if (effective(spec, container, "seccompProfile") or {}).get("type") == "Unconfined":
            found.add("seccomp")
        if (effective(spec, container, "appArmorProfile") or {}).get("type") == "Unconfined":
            found.add("appArmor")
        if effective(spec, container, "seLinuxOptions"):
            found.add("seLinuxOptions")
    return found


def restricted(spec):
    found = baseline(spec)
    for volume in spec.get("volumes", []):
        if not RESTRICTED_VOLUMES & volume.keys():
            found.add("volume type")
    for container in containers(spec):
        context = security(container)
        if context.get("allowPrivilegeEscalation", True):
            found.add("allowPrivilegeEscalation")
        if not effective(spec, container, "runAsNonRoot"):
            found.add("runAsNonRoot")
        if effective(spec, container, "runAsUser") == 0:
            found.add("runAsUser")
        if (effective(spec, container, "seccompProfile") or {}).get("type") not in ("RuntimeDefault", "Localhost"):
            found.add("seccomp")
        capabilities = context.get("capabilities", {})
        if "ALL" not in capabilities.get("drop", []) or set(capabilities.get("add", [])) - {"NET_BIND_SERVICE"}:
            found.add("capabilities")
    return found
