/** A TCP relay between two programs, whose connections can be frozen, left half-dead or cut. */
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net';

export interface Relay {
  port: number;
  /** Nothing passes in either direction until `thaw`, which delivers what was sent in between. */
  freeze(): void;
  thaw(): void;
  /** The present connections stay open, but nothing passes any more; new ones work. */
  abandon(): void;
  /** Resets all connections. */
  cut(): void;
  close(): Promise<void>;
}

/** Passes each connection on to the next of the targets that accepts one. */
export async function startRelay(targets: readonly NetConnectOpts[]): Promise<Relay> {
  const pairs = new Set<readonly [Socket, Socket]>();
  const abandoned: Socket[] = [];
  let isFrozen = false;
  let turn = 0;

  function pass(inside: Socket, attempt = 0): void {
    if (attempt === targets.length) return void inside.destroy();
    const outside = connect(targets[turn++ % targets.length] as NetConnectOpts);
    outside.once('error', () => pass(inside, attempt + 1));
    outside.once('connect', () => {
      outside.removeAllListeners('error');
      const pair = [inside, outside] as const;
      pairs.add(pair);
      for (const [from, to] of [pair, pair.toReversed() as [Socket, Socket]]) {
        from.on('error', () => undefined);
        from.once('close', () => {
          pairs.delete(pair);
          to.destroy();
        });
        from.on('data', (bytes) => {
          if (!to.write(bytes)) from.pause();
        });
        to.on('drain', () => isFrozen || from.resume());
        if (isFrozen) from.pause();
      }
    });
  }

  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => undefined);
    pass(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sockets = (): Socket[] => [...pairs].flat();
  const cut = (): void => {
    for (const socket of sockets()) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    freeze() {
      isFrozen = true;
      for (const socket of sockets()) socket.pause();
    },
    thaw() {
      isFrozen = false;
      for (const socket of sockets()) socket.resume();
    },
    abandon() {
      for (const socket of sockets())
        abandoned.push(socket.removeAllListeners('data').removeAllListeners('drain').pause());
      pairs.clear();
    },
    cut,
    async close() {
      for (const socket of [...sockets(), ...abandoned]) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
