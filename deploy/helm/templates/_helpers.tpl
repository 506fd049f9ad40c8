{{- define "freshet.name" -}}
{{- $name := .Release.Name }}
{{- if not (contains "freshet" $name) }}{{ $name = printf "%s-freshet" $name }}{{ end }}
{{- /* Kubernetes adds 11 characters to the name of a StatefulSet in a label of its pods, which has 63 at most. */}}
{{- if gt (len $name) 52 }}
{{- fail (printf "the name %s has %d characters, and 52 are allowed: choose a shorter name for the release" $name (len $name)) }}
{{- end }}
{{- $name }}
{{- end }}

{{- /* The bytes of a quantity such as 2Gi: Kubernetes may write it in another unit. */}}
{{- define "freshet.bytes" -}}
{{- $units := dict "" 1.0 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 "Pi" 1125899906842624.0 }}
{{- mulf (float64 (regexFind "^[0-9.]+" (toString .))) (get $units (regexFind "[a-zA-Z]*$" (toString .))) }}
{{- end }}

{{- /* Kubernetes refuses to change the claims of a StatefulSet, in words that do not say what to do. */}}
{{- define "freshet.storage" -}}
{{- $name := include "freshet.name" . }}
{{- $is := lookup "apps/v1" "StatefulSet" .Release.Namespace $name }}
{{- range dig "spec" "volumeClaimTemplates" list $is }}
{{- $size := dig "spec" "resources" "requests" "storage" "" . }}
{{- $class := dig "spec" "storageClassName" "" . }}
{{- if or (ne (include "freshet.bytes" $size) (include "freshet.bytes" $.Values.server.storage.size)) (and $.Values.server.storage.className (ne $class $.Values.server.storage.className)) }}
{{- fail (printf "server.storage is fixed when the release is installed (here %s %s): keep it, or change the claims first, as docs/production.md says (Kubernetes)" $size $class) }}
{{- end }}
{{- end }}
{{- end }}

{{- /* The seconds of a duration such as 1m30s. */}}
{{- define "freshet.seconds" -}}
{{- $sum := 0.0 }}
{{- $units := dict "h" 3600.0 "m" 60.0 "s" 1.0 "ms" 0.001 "us" 0.000001 "µs" 0.000001 "ns" 0.000000001 }}
{{- range regexFindAll "[0-9.]+(h|ms|m|s|us|µs|ns)" (toString .) -1 }}
{{- $sum = addf $sum (mulf (float64 (regexFind "[0-9.]+" .)) (get $units (regexFind "[a-zµ]+" .))) }}
{{- end }}
{{- $sum }}
{{- end }}

{{- /* A process that is killed while it drains or records loses what it was about to do. */}}
{{- define "freshet.grace" -}}
{{- $drain := dig "server" "drain" "5s" .Values.config }}
{{- $rest := dig "server" "shutdown_timeout" "15s" .Values.config }}
{{- $needs := addf (float64 (include "freshet.seconds" $drain)) (float64 (include "freshet.seconds" $rest)) }}
{{- if le (float64 .Values.server.terminationGracePeriodSeconds) $needs }}
{{- fail (printf "server.terminationGracePeriodSeconds is %v, and must be longer than server.drain (%v) and server.shutdown_timeout (%v) of config together" .Values.server.terminationGracePeriodSeconds $drain $rest) }}
{{- end }}
{{- int64 .Values.server.terminationGracePeriodSeconds }}
{{- end }}

{{- define "freshet.podLabels" -}}
{{ include "freshet.labels" . }}
{{- with .Values.podLabels }}
{{ toYaml . }}
{{- end }}
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
{{- $own := dict "server" (dict "addr" ":8080") "data_dir" "/var/lib/freshet" }}
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
{{- range $i, $v := .Values.volumes }}
- {name: volumes-{{ $i }}, mountPath: {{ $v.path | quote }}}
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
{{- if $f.configMap }}
- {name: files-{{ $i }}, configMap: {name: {{ $f.configMap | quote }}}}
{{- else }}
- {name: files-{{ $i }}, secret: {secretName: {{ $f.secret | quote }}, defaultMode: 0440}}
{{- end }}
{{- end }}
{{- range $i, $v := .Values.volumes }}
- {{ merge (dict "name" (printf "volumes-%d" $i)) $v.volume | toJson }}
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
