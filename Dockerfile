# The image: Node.js, the libraries it needs, and the service. No shell, no package manager, no other program.
# Tests build it with Debian's buildah, and pass a base image of their own (tests/deploy/image.ts).
ARG NODE=node:26.10.0-bookworm

FROM ${NODE} AS web
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY packages/client/package.json packages/client/
COPY packages/web/package.json packages/web/
RUN npm ci --ignore-scripts --no-audit --workspace packages/web
COPY tsconfig.json ./
COPY packages/client packages/client
COPY packages/web packages/web
RUN npm run build --workspace packages/web

FROM ${NODE} AS server
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY packages/contract/package.json packages/contract/
COPY packages/client/package.json packages/client/
COPY packages/cli/package.json packages/cli/
COPY packages/server/package.json packages/server/
# Naming workspaces omits the dependencies of the root. Types, source maps, manuals and tests of packages are not needed at run time.
RUN npm ci --ignore-scripts --no-audit --omit=dev --workspace packages/server --workspace packages/cli --workspace packages/client \
  && find node_modules -type d \( -name test -o -name tests -o -name 'benchmark*' \) -prune -exec rm -r '{}' + \
  && find node_modules -type f ! -iname 'licen[cs]e*' \
    \( -name '*.map' -o -name '*.md' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' \) -delete
COPY packages/contract packages/contract
COPY packages/client packages/client
COPY packages/cli packages/cli
COPY packages/server packages/server
# Node.js without symbols, the shared libraries of Node.js and of native packages, and the files for host and user lookup.
RUN mkdir -p root/usr/local/bin root/etc \
  && strip -o root/usr/local/bin/node "$(command -v node)" \
  && find node_modules -name '*.node' -exec ldd "$(command -v node)" '{}' + | grep -oE '(/usr)?/lib[^ :]*' | sort -u \
    | xargs -I '{}' cp --parents --dereference '{}' root/ \
  && echo 'hosts: files dns' > root/etc/nsswitch.conf \
  && echo 'lockstep:x:65532:65532::/nonexistent:/nonexistent' > root/etc/passwd

FROM scratch
ARG VERSION=0.2.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Lockstep" \
  org.opencontainers.image.description="Shared task boards on which everyone sees the same board, in the same order, always." \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"
COPY --from=server /build/root/ /
COPY LICENSE /srv/lockstep/
COPY --from=server /build/node_modules/ /srv/lockstep/node_modules/
COPY --from=server /build/packages/ /srv/lockstep/packages/
COPY --from=web /build/packages/web/dist/ /srv/lockstep/packages/web/dist/
WORKDIR /srv/lockstep
ENV REVISION=${REVISION} PATH=/usr/local/bin NODE_ENV=production ENVIRONMENT=production HOST=0.0.0.0 PORT=8000 UNREADY_SECONDS=5
USER 65532:65532
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "--eval", "fetch(`http://127.0.0.1:${process.env.PORT}/ready`).then((response) => process.exit(response.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "packages/server/src/main.ts"]
