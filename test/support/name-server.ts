/** A local DNS server over UDP for names with the prefixes that a test uses. */
import { createSocket } from 'node:dgram';

/**
 * Every A record is 127.0.0.1, and there are no other records; `unknown…` does not exist, and `silent…` gets no answer.
 */
export async function startNameServer({ isDead = false } = {}) {
  const socket = createSocket('udp4');
  const queries: string[] = [];
  socket.on('message', (question, { address, port }) => {
    const { name, type, bytes } = readQuestion(question);
    queries.push(`${type} ${name}`);
    if (isDead || name.startsWith('silent') || (name.startsWith('half') && type === 'AAAA')) return;
    const exists = !name.startsWith('unknown');
    const records = exists && type === 'A' ? [A_RECORD] : [];
    const header = Buffer.alloc(12);
    question.copy(header, 0, 0, 2);
    header.writeUInt16BE(exists ? 0x8180 : 0x8183, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    socket.send(Buffer.concat([header, bytes, ...records]), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    /** Every query, such as `A shop.example`. */
    queries,
    close: () => new Promise<void>((resolve) => socket.close(resolve)),
  };
}

/** The queried name, type A, class IN, a TTL of one minute, and the four bytes of the address. */
const A_RECORD = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]);

function readQuestion(message: Buffer): { name: string; type: string; bytes: Buffer } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = message.readUInt16BE(at + 1) === 1 ? 'A' : 'AAAA';
  return { name: labels.join('.'), type, bytes: message.subarray(12, at + 5) };
}
