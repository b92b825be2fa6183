/** A local DNS server over UDP for names with the prefixes that a test uses. */
import { createSocket } from 'node:dgram';
import { isIPv4, isIPv6 } from 'node:net';

/** The records of a name for each time that it is resolved, the last for all later times: addresses, or another name. */
export type Zone = Readonly<Record<string, readonly (readonly string[])[]>>;

/**
 * Every A record is 127.0.0.1, and there are no other records; `unknown…` does not exist, and `silent…` gets no answer.
 * Names of the zone have its records, which expire at once.
 */
export async function startNameServer({ isDead = false, zone = {} as Zone } = {}) {
  const turns = new Map<string, number>();
  /** The records of a name, and of the names that it is an alias of. */
  const recordsOf = (name: string, type: string): Buffer[] => {
    const times = zone[name];
    if (!times) return type === 'A' ? [record(name, 'A', [127, 0, 0, 1])] : [];
    const turn = turns.get(`${type} ${name}`) ?? 0;
    turns.set(`${type} ${name}`, turn + 1);
    return (times[Math.min(turn, times.length - 1)] ?? []).flatMap((value) => {
      if (isIPv4(value)) return type === 'A' ? [record(name, 'A', value.split('.').map(Number))] : [];
      if (isIPv6(value)) return type === 'AAAA' ? [record(name, 'AAAA', ipv6Bytes(value))] : [];
      return [record(name, 'CNAME', [...nameBytes(value)]), ...recordsOf(value, type)];
    });
  };
  const socket = createSocket('udp4');
  const queries: string[] = [];
  socket.on('message', (question, { address, port }) => {
    const { name, type, bytes } = readQuestion(question);
    queries.push(`${type} ${name}`);
    if (isDead || name.startsWith('silent') || (name.startsWith('half') && type === 'AAAA')) return;
    const exists = !name.startsWith('unknown');
    const records = exists ? recordsOf(name, type) : [];
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

const TYPES = { A: 1, CNAME: 5, AAAA: 28 } as const;

const nameBytes = (name: string): Buffer =>
  Buffer.concat([
    ...name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.alloc(1),
  ]);

/** The sixteen bytes of an IPv6 address, whose last part may be an IPv4 address. */
function ipv6Bytes(text: string): number[] {
  const { hostname } = new URL(`http://[${text}]`);
  const [head = '', tail] = hostname.slice(1, -1).split('::');
  const words = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((word) => Number.parseInt(word, 16));
  const [first, last] = [words(head), words(tail ?? '')];
  const all = [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
  return all.flatMap((word) => [word >> 8, word & 255]);
}

/** A record of class IN that expires at once. */
function record(name: string, type: keyof typeof TYPES, data: readonly number[]): Buffer {
  const fixed = [0, TYPES[type], 0, 1, 0, 0, 0, 0, data.length >> 8, data.length & 255];
  return Buffer.concat([nameBytes(name), Buffer.from([...fixed, ...data])]);
}

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
