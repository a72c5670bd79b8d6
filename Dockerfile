# The daemon as an image: the same program as `npm start`, with an external PostgreSQL.

ARG NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20

FROM ${NODE_IMAGE} AS build
WORKDIR /app
# Dependencies first: they change less often than the sources.
COPY package.json package-lock.json .npmrc ./
COPY packages ./packages
RUN npm ci
COPY nest-cli.json tsconfig.json tsconfig.build.json tsconfig.tools.json ./
COPY src ./src
COPY tools ./tools
# Production runs the daemon and its command line: no programs for developers, no source maps, no type declarations.
RUN npm run build \
  && rm -rf dist/bench dist/proof dist/tools \
  && find dist packages/mor/dist packages/sandbox/dist \( -name '*.map' -o -name '*.d.ts' -o -name .tsbuildinfo -o -name .stamp \) -delete

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages ./packages
# Of the workspaces production uses the MoR's client alone: the last stage brings it, compiled.
# Types and source maps are more than half of what the rest weighs (181 MB with them, 75 MB without).
RUN npm ci --omit=dev --omit=optional && npm cache clean --force && rm -rf node_modules/@crossbill \
  && find node_modules -type f \( -name '*.map' -o -name '*.ts' -o -name '*.cts' -o -name '*.mts' -o -name '*.md' \) \
    ! -iname 'licen*' -delete

# What `docker compose --profile sandbox` runs next to the daemon: the MoR and Stripe, with made-up money.
FROM ${NODE_IMAGE} AS sandbox
WORKDIR /app
COPY --from=build /app/packages/sandbox/dist ./packages/sandbox/dist
COPY packages/sandbox/package.json ./packages/sandbox/
USER 1000:1000
ENTRYPOINT ["node", "packages/sandbox/dist/main.js"]

FROM ${NODE_IMAGE}
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000
WORKDIR /app
# Everything belongs to root and is only read: the daemon writes to its database and to nothing else, so that
# `docker run --read-only` works as it is.
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/packages/mor/dist ./node_modules/@crossbill/mor/dist
COPY packages/mor/package.json ./node_modules/@crossbill/mor/
# The compose file is what `crossbill init` writes.
COPY package.json LICENSE docker-compose.yml ./
COPY migrations ./migrations
# The image's user `node`, by number: Kubernetes' runAsNonRoot believes no name.
USER 1000:1000
EXPOSE 3000
# SIGTERM: /readyz turns 503, the endpoints answer 503, what is in flight is finished, within 20 s.
STOPSIGNAL SIGTERM
# Who restarts what is unhealthy must ask /livez: a restart does not bring a database back. /readyz is for who sends traffic.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 3000) + '/livez').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Node itself is process 1, so that signals reach it. The CLI: docker run --entrypoint node … dist/cli.js migrate
# V8 starts with a small young generation and keeps it: see the first lines of src/main.ts.
ENTRYPOINT ["node", "--max-semi-space-size=8", "--heap-growing-percent=70", "dist/main.js"]
