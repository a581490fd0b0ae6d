# syntax=docker/dockerfile:1

# The three programs, without cgo, in one small image. The command names the one to run:
#   docker run prejoin queryd serve
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 GOFLAGS=-buildvcs=false go build -trimpath -ldflags="-s -w" -o /out/ ./cmd/...

# Alpine for its time zones, its certificates and a wget that asks /readyz.
FROM alpine:3.22
RUN apk add --no-cache ca-certificates tzdata && adduser -D -H -u 10001 prejoin
COPY --from=build /out/ /usr/local/bin/
COPY readmodels /etc/prejoin/readmodels
ENV READMODELS=/etc/prejoin/readmodels
USER 10001:10001
CMD ["queryd", "serve"]
