/**
 * A name server that answers with the addresses of a name, as Docker's name server does for the replicas of a service.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

const HEADER_BYTES = 12;
const TYPE_A = 1;
const TTL_SECONDS = 1;

export class NameServer {
  /** IPv4 addresses by name. Tests may change them at any time. */
  readonly addresses: Record<string, readonly string[]> = {};

  private constructor(private readonly socket: Socket) {
    socket.on('message', (query, { port, address }) => {
      socket.send(this.answer(query), port, address);
    });
  }

  static async start(): Promise<NameServer> {
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new NameServer(socket);
  }

  /** Host and port of the server. */
  get place(): string {
    return `127.0.0.1:${this.socket.address().port}`;
  }

  async stop(): Promise<void> {
    this.socket.close();
    await once(this.socket, 'close');
  }

  /** An answer by RFC 1035, 4.1: the question, and an A record per address. */
  private answer(query: Buffer): Buffer {
    const { name, end } = nameIn(query);
    const isA = query.readUInt16BE(end) === TYPE_A;
    const known = isA ? (this.addresses[name] ?? []) : [];
    const header = Buffer.from(query.subarray(0, HEADER_BYTES));
    header.writeUInt16BE(0x8580, 2);
    header.writeUInt16BE(known.length, 6);
    header.writeUInt32BE(0, 8);
    return Buffer.concat([header, query.subarray(HEADER_BYTES, end + 4), ...known.map(record)]);
  }
}

function nameIn(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), end: at + 1 };
}

/** An A record whose name points to the question's name. */
function record(address: string): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16BE(0xc000 + HEADER_BYTES, 0);
  bytes.writeUInt16BE(TYPE_A, 2);
  bytes.writeUInt16BE(1, 4);
  bytes.writeUInt32BE(TTL_SECONDS, 6);
  bytes.writeUInt16BE(4, 10);
  for (const [place, part] of address.split('.').entries()) bytes[12 + place] = Number(part);
  return bytes;
}
