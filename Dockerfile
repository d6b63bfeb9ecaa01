# One image for all programs; docker-compose.yml and deploy/kubernetes say which one a container runs.
#
# Behind a proxy: HTTP_PROXY, HTTPS_PROXY and NO_PROXY, which Docker passes to a build by itself. Own npm registry:
# --build-arg NPM_CONFIG_REGISTRY=https://…. Own copy of the base image, or one with a company's certificates:
# --build-arg NODE_IMAGE=…. Compose takes all of them from the environment.
ARG NODE_IMAGE=node:24.19.0-bookworm-slim

FROM ${NODE_IMAGE} AS packages
ARG NPM_CONFIG_REGISTRY
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# No scripts: nothing that is needed to build or to run has any, and so nothing is fetched but packages.
RUN npm ci --omit=dev --ignore-scripts
# Packages of others ask for these two, for what no program here does.
RUN rm -r node_modules/typescript node_modules/swagger-ui-dist

FROM ${NODE_IMAGE} AS build
ARG NPM_CONFIG_REGISTRY
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY nest-cli.json tsconfig.json .swcrc ./
COPY libs libs
COPY apps apps
COPY bench bench
# What the web pages are made of besides: the contracts, and partners' documents.
COPY docs/wire docs/wire
COPY docs/partners docs/partners
# Not by npm, which would look for the Node that package.json pins and whose script did not run.
RUN node node_modules/@nestjs/cli/bin/nest.js build && node apps/web/build.mjs && rm -rf dist/bench dist/test dist/libs/testing dist/apps/*/test

FROM ${NODE_IMAGE}
WORKDIR /app
# No program installs packages.
RUN rm -rf /usr/local/lib/node_modules /opt/yarn-* /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn*
# Volumes that are mounted here take over the owner; one at /tmp takes over its mode.
RUN install -d -o node -g node /run/lowmark/chain /run/lowmark/game /run/lowmark/secrets /run/lowmark/signer /run/lowmark/ledger \
  /run/lowmark/for/postgres /run/lowmark/for/redis /run/lowmark/for/migrate /run/lowmark/for/indexer \
  /run/lowmark/for/api /run/lowmark/for/redemption /run/lowmark/for/console /run/lowmark/for/cli /run/lowmark/for/game
# What is meant for development is refused, unless it is said otherwise.
ENV NODE_ENV=production
# The C library keeps free memory in a pool for each thread: fewer pools, and blocks from 4 MiB on are given back at once.
# An answer of a node has some 3 MiB: taken from the system page by page, its text would cost more CPU than its parsing.
ENV MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=4194304
COPY package.json ./
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
USER node
# No program by default: each is named where it is run.
CMD ["node", "--version"]
