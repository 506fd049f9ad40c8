# syntax=docker/dockerfile:1

FROM golang:1.26 AS build
WORKDIR /src
# The modules change less often than the code: a layer of their own.
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
# The builder has no repository to take the version from:
# --build-arg VERSION="$(git describe --tags --always --dirty)"
ARG VERSION
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath -ldflags="-s -w -X github.com/freshet/freshet/internal/version.release=$VERSION" -o /out/freshet ./cmd/freshet
RUN --mount=type=cache,target=/go/pkg/mod scripts/licenses.sh /out/licenses
# The data directory must exist with its owner, so that a volume mounted there
# takes the owner over; the final image has no shell to make one.
RUN mkdir /out/data

# Certificates, time zones, the licence texts and nothing else; runs as user 65532.
FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/freshet /usr/local/bin/freshet
COPY --from=build /out/licenses /usr/share/doc/freshet/licenses
COPY --from=build --chown=65532:65532 /out/data /var/lib/freshet
ENV FRESHET_DATA_DIR=/var/lib/freshet
USER 65532:65532
EXPOSE 8080
VOLUME /var/lib/freshet
# The default address is loopback, which nobody outside the container reaches.
# Whoever listens on all addresses must say how agents are known: see
# auth.mode and auth.trusted_gateway in configs/freshet.yaml.
ENTRYPOINT ["/usr/local/bin/freshet"]
CMD ["serve"]
