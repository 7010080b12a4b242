{{- define "epsledger.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end }}
{{- end }}

{{- define "epsledger.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "epsledger.labels" -}}
{{ include "epsledger.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "epsledger.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{- define "epsledger.confinement" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- /* What both kinds of servers have in common. The caller adds volumes and what comes before the server. */}}
{{- define "epsledger.pod" -}}
serviceAccountName: {{ include "epsledger.name" . }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
# The server finishes the calls in progress before it stops.
terminationGracePeriodSeconds: 60
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "epsledger.server" -}}
name: server
image: {{ include "epsledger.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext: {{- include "epsledger.confinement" . | nindent 2 }}
resources: {{- toYaml .Values.resources | nindent 2 }}
ports:
  - {name: grpc, containerPort: 50551}
  - {name: https, containerPort: 8443}
  - {name: operations, containerPort: 9464}
# /healthz answers as soon as the process serves; /readyz says whether a charge would be taken. A
# server verifies its whole ledger before it serves: it has an hour for that.
startupProbe:
  httpGet: {path: /healthz, port: operations, scheme: HTTPS}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 360
livenessProbe:
  httpGet: {path: /healthz, port: operations, scheme: HTTPS}
  periodSeconds: 20
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /readyz, port: operations, scheme: HTTPS}
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 2
{{- end }}

{{- define "epsledger.arguments" -}}
- --listen=0.0.0.0:50551
- --http-listen=0.0.0.0:8443
- --operations-listen=0.0.0.0:9464
- --tls-cert=/etc/epsledger/tls/tls.crt
- --tls-key=/etc/epsledger/tls/tls.key
- --require-tokens
- --json-log
{{- range $flag, $value := .Values.settings }}
- {{ printf "--%s=%v" $flag $value | quote }}
{{- end }}
{{- end }}

{{- define "epsledger.mounts" -}}
- {name: tls, mountPath: /etc/epsledger/tls, readOnly: true}
- {name: scratch, mountPath: /tmp}
{{- end }}

{{- define "epsledger.volumes" -}}
- name: tls
  secret:
    secretName: {{ .Values.tls.secretName }}
    defaultMode: 0440
- name: scratch
  emptyDir: {medium: Memory, sizeLimit: 64Mi}
{{- end }}
