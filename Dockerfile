# syntax=docker/dockerfile:1

FROM golang:1.26 AS build
WORKDIR /src
# A separate layer for the modules, which change less often than the code.
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
# The build has no git repository from which it could take the version. Pass it:
# --build-arg VERSION="$(git describe --tags --always --dirty)"
ARG VERSION
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath -ldflags="-s -w -X github.com/freshet/freshet/internal/version.release=$VERSION" -o /out/freshet ./cmd/freshet
RUN --mount=type=cache,target=/go/pkg/mod scripts/licenses.sh /out/licenses
# Create the data directory here, because the final image has no shell. A volume that is
# mounted there takes over its owner.
RUN mkdir /out/data

# The base image has certificates and time zones, but no shell; the server runs as user 65532.
FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/freshet /usr/local/bin/freshet
COPY --from=build /out/licenses /usr/share/doc/freshet/licenses
COPY --from=build --chown=65532:65532 /out/data /var/lib/freshet
ENV FRESHET_DATA_DIR=/var/lib/freshet
USER 65532:65532
EXPOSE 8080
VOLUME /var/lib/freshet
# The default address is loopback, which cannot be reached from outside the container. To
# listen on all addresses, configure how agents are identified: see auth.mode and
# auth.trusted_gateway in configs/freshet.yaml.
ENTRYPOINT ["/usr/local/bin/freshet"]
CMD ["serve"]
