{{- define "freshet.name" -}}
{{- if contains "freshet" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-freshet{{ end }}
{{- end }}

{{- define "freshet.selector" -}}
app.kubernetes.io/name: freshet
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "freshet.labels" -}}
{{ include "freshet.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "freshet.config" -}}
{{- $redis := dig "redis" "url" "" .Values.config }}
{{- $elastic := dig "elasticsearch" "addresses" list .Values.config }}
{{- if not (and $redis $elastic) }}
{{- fail "config must have redis.url and elasticsearch.addresses: servers without them would each have data of their own" }}
{{- end }}
{{- $own := dict "server" (dict "addr" "0.0.0.0:8080") "data_dir" "/var/lib/freshet" }}
{{- toYaml (mergeOverwrite (deepCopy .Values.config) $own) }}
{{- end }}

{{- define "freshet.pod" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext: {{ toYaml .Values.podSecurityContext | nindent 2 }}
{{- end }}

{{- define "freshet.container" -}}
{{- if not (kindIs "string" .Values.image.tag) }}
{{- fail "image.tag must be in quotes: YAML reads 1.10 as 1.1, and 20261130 as 2.026113e+07" }}
{{- end -}}
image: {{ printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{- define "freshet.env" -}}
{{- range .Values.secrets }}
- {name: FRESHET_{{ .variable }}_FILE, value: /run/secrets/freshet/{{ .variable }}}
{{- end }}
{{- with .Values.env }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "freshet.account" -}}
{{- default (include "freshet.name" .) .Values.serviceAccountName }}
{{- end }}

{{- define "freshet.mounts" -}}
- {name: config, mountPath: /etc/freshet, readOnly: true}
- {name: data, mountPath: /var/lib/freshet}
- {name: tmp, mountPath: /tmp}
{{- if .Values.secrets }}
- {name: secrets, mountPath: /run/secrets/freshet, readOnly: true}
{{- end }}
{{- range $i, $f := .Values.files }}
- {name: files-{{ $i }}, mountPath: {{ $f.path | quote }}, readOnly: true}
{{- end }}
{{- end }}

{{- define "freshet.volumes" -}}
- {name: tmp, emptyDir: {}}
{{- if .Values.secrets }}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
      {{- range .Values.secrets }}
      - secret: {name: {{ .secret | quote }}, items: [{key: {{ .key | quote }}, path: {{ .variable | quote }}}]}
      {{- end }}
{{- end }}
{{- range $i, $f := .Values.files }}
- {name: files-{{ $i }}, secret: {secretName: {{ $f.secret | quote }}, defaultMode: 0440}}
{{- end }}
{{- end }}

{{- define "freshet.probes" -}}
livenessProbe:
  httpGet: {path: /livez, port: http}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /readyz, port: http}
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 2
{{- end }}

{{- define "freshet.place" -}}
{{- with .nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}
