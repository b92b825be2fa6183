/** Closes a connection without losing the response: what the client still sends is read and discarded for a while. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { LIMITS } from '../rules/limits.ts';

/**
 * Sends what is written, then the end of the stream, and reads on until the client closes its side, falls silent or takes
 * too long. A connection that is closed while data arrive is reset, and the client may lose the response.
 */
export function closeAfterReading(socket: Socket): void {
  if (socket.destroyed || socket.writableEnded) return;
  // The limits begin when all is sent: a slow client may take long to receive a large response.
  socket.end(() => {
    if (socket.destroyed) return;
    const most = setTimeout(() => socket.destroy(), LIMITS.lingerMostMs).unref();
    socket.setTimeout(LIMITS.lingerMs, () => socket.destroy());
    socket.once('close', () => clearTimeout(most));
  });
  socket.resume();
}

/** Node.js closes a connection after its last response with `destroySoon`, which does not wait for the client. */
export function lingerOnClose(server: Server): void {
  server.on('connection', (socket: Socket) => {
    socket.destroySoon = () => closeAfterReading(socket);
  });
}
