# The gateway, run from source. Without DATABASE_URL it keeps a PostgreSQL of its own in /data. As a sandbox it also runs
# the provider simulator, on port 8081.

FROM node:26-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm install --omit=dev --no-audit --no-fund

FROM node:26-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
WORKDIR /app
RUN install -d -o node -g node -m 0750 /data
COPY --from=packages /app/node_modules ./node_modules
# Besides the program, what the docs at /docs show and link to.
COPY package.json LICENSE README.md CONTRIBUTING.md ./
COPY docs ./docs
COPY client ./client
COPY examples ./examples
COPY vectors ./vectors
COPY bin ./bin
COPY src ./src
COPY simulator ./simulator
RUN ln -s /app/bin/turnpike /usr/local/bin/turnpike
USER node
VOLUME /data
EXPOSE 8080 8081
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/health/live').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Requests in flight fit into a young generation of this size, so that few of their objects are copied.
ENTRYPOINT ["node", "--max-semi-space-size=32", "src/cli/main.ts"]
CMD ["serve"]
