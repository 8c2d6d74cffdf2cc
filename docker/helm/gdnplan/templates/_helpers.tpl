{{/* SPDX-FileCopyrightText: The gdnplan authors
     SPDX-License-Identifier: Apache-2.0 */}}
{{- define "gdnplan.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "gdnplan.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains (include "gdnplan.name" .) .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "gdnplan.name" .) | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "gdnplan.selectorLabels" -}}
app.kubernetes.io/name: {{ include "gdnplan.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "gdnplan.labels" -}}
{{ include "gdnplan.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "gdnplan.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* The socket that is always there: on the node, or in the pod for its probes. */}}
{{- define "gdnplan.socket" -}}
unix:/run/gdnplan/gdnplan.sock
{{- end }}

{{/* Kubelet's gRPC probe speaks no TLS. */}}
{{- define "gdnplan.probe" -}}
{{- if and .Values.tcp.enabled (not .Values.tcp.tls.secretName) -}}
grpc:
  port: {{ .Values.tcp.port }}
{{- else -}}
exec:
  command: [gdnplan, health, --connect-timeout=2]
{{- end }}
timeoutSeconds: 5
{{- end }}

{{/* What would fail on the nodes, or silently do something else, fails here. */}}
{{- define "gdnplan.validate" -}}
{{- range tuple "LISTEN" "SERVER" "DEVICE" "DRAIN" "ALLOW_UID" "INSECURE" "TLS_CERT" "TLS_KEY" "TLS_CLIENT_CA" "TOKEN_FILE" "METRICS_LISTEN" }}
{{- if hasKey $.Values.config (print "GDNPLAN_" .) }}
{{- fail (printf "config.GDNPLAN_%s: other values of the chart set it" .) }}
{{- end }}
{{- end }}
{{- if not (or .Values.socket.enabled .Values.tcp.enabled) }}
{{- fail "socket.enabled or tcp.enabled must be true: engines could not reach the server" }}
{{- end }}
{{- if and .Values.tcp.enabled (not .Values.tcp.tls.secretName) (not .Values.tcp.insecure) }}
{{- fail "tcp needs tls.secretName, or insecure: true where everybody who reaches the port is trusted" }}
{{- end }}
{{- if and .Values.tcp.tls.secretName .Values.tcp.insecure }}
{{- fail "tcp.insecure and tcp.tls.secretName exclude each other" }}
{{- end }}
{{- if and .Values.tcp.tls.clientCertificates (not .Values.tcp.tls.secretName) }}
{{- fail "tcp.tls.clientCertificates needs tcp.tls.secretName" }}
{{- end }}
{{- if and .Values.metrics.podMonitor.enabled (not .Values.metrics.enabled) }}
{{- fail "metrics.podMonitor.enabled needs metrics.enabled" }}
{{- end }}
{{- if and (not .Values.gpu.enabled) (not .Values.sharedMemory.hostPath) }}
{{- fail "gpu.enabled: false needs sharedMemory.hostPath: engines map the host device's arenas from /dev/shm" }}
{{- end }}
{{- end }}
