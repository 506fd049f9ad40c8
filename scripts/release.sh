#!/usr/bin/env bash
# release.sh [--snapshot]: builds the files of a release in dist/, and checks them: an
# archive with the licence texts of its modules for each of linux and darwin, amd64 and
# arm64, an archive of the source, checksums, a list of modules of each binary (CycloneDX),
# and, if Docker is running, the image. Publishes nothing.
# A release requires a commit tagged v$(cat VERSION) without uncommitted changes. --snapshot
# builds the working tree as it is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

die() { echo "release.sh: $*" >&2; exit 1; }
VERSION=$(cat VERSION)
COMMIT=$(git rev-parse --short HEAD)
export VERSION COMMIT
grep -qF "\"version\": \"$VERSION\"" clients/typescript/package.json || die "clients/typescript/package.json does not have version $VERSION"
what=(--clean)
case ${1:-} in
  --snapshot) what+=(--snapshot) ;;
  '')
    [ -z "$(git status --porcelain)" ] || die "there are uncommitted changes; commit them, or build a --snapshot"
    [ "$(git describe --tags --exact-match 2>/dev/null)" = "v$VERSION" ] || die "this commit is not tagged v$VERSION; tag it, or build a --snapshot" ;;
  *) die "usage: scripts/release.sh [--snapshot]" ;;
esac

# tool NAME PACKAGE VERSION: installs a command unless that version is installed.
bin=$(go env GOPATH)/bin
tool() {
  go version -m "$bin/$1" 2>/dev/null | awk -v v="$3" '$1 == "mod" && $3 == v { f = 1 } END { exit !f }' || GOFLAGS='' GOBIN=$bin go install "$2@$3"
}
tool goreleaser github.com/goreleaser/goreleaser/v2 v2.15.1
tool cyclonedx-gomod github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod v1.10.0

rm -rf licenses
trap 'rm -rf licenses' EXIT
PATH=$bin:$PATH GOFLAGS='' goreleaser release "${what[@]}"
archives=(dist/freshet_*_linux_amd64.tar.gz)
source=$(basename "${archives[0]%_linux_amd64.tar.gz}")_source.tar.gz
git archive --prefix="freshet-$VERSION/" -o "dist/$source" HEAD
(cd dist && sha256sum "$source" >>checksums.txt)

# Check the contents: each archive must contain the binary, this project's licence, and at
# least one licence text of each module in its list.
(cd dist && sha256sum --quiet --check checksums.txt) || die "the checksums are wrong"
for platform in linux_amd64 linux_arm64 darwin_amd64 darwin_arm64; do
  archive=$(echo dist/freshet_*_"$platform".tar.gz) list=$(echo dist/freshet_*_"$platform".cdx.json)
  names=$(tar -tzf "$archive")
  for name in freshet LICENSE README.md configs/freshet.yaml deploy/helm/Chart.yaml deploy/kubernetes.yaml deploy/systemd/freshet.service docs/production.md docs/operations.md scripts/monitoring/alerts.yml licenses/go/LICENSE; do
    grep -q "/$name\$" <<<"$names" || die "$archive has no $name"
  done
  modules=$(grep -o '"purl": "pkg:golang/[^@?"]*' "$list" | sed 's|.*pkg:golang/||' | sort -u)
  [ "$(wc -l <<<"$modules")" -gt 20 ] || die "$list has too few modules"
  while read -r module; do
    case $module in github.com/freshet/freshet | std) continue ;; esac
    grep -qF "/licenses/$module/" <<<"$names" || die "$archive has no licence text of $module"
  done <<<"$modules"
done
if docker info >/dev/null 2>&1; then
  docker build --build-arg "VERSION=v$VERSION" -t "freshet:$VERSION" .
else
  echo "release.sh: Docker is not running; skipped the image"
fi
ls -l dist/*.tar.gz dist/*.cdx.json dist/checksums.txt | awk '{ printf "%9d  %s\n", $5, $9 }'
