/** Clients that read lists over raw sockets. Named so that it counts as a test file, but holds no tests. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { dayText } from '#libs/domain';
import { exchange, type RawAnswer } from '#libs/testing/wire';

export const listPath = (day: number, form = 'ndjson'): string =>
  `/api/staking/days/${dayText(day)}/wallets.${form}`;

type Headers = Readonly<Record<string, string>>;

export interface ListAsker {
  readonly port: number;
  readonly apiKey: string;
}

function headOf({ apiKey }: ListAsker, target: string, headers: Headers, method = 'GET'): string {
  const all = { host: 'api', connection: 'close', 'x-api-key': apiKey, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

export async function askRaw(
  asker: ListAsker,
  target: string,
  headers: Headers = {},
  method = 'GET',
): Promise<RawAnswer> {
  const head = headOf(asker, target, headers, method);
  const [answer] = await exchange(asker.port, [head], { methods: [method], pauseMs: 0 });
  if (answer === undefined) throw new Error('no answer');
  return answer;
}

/** A client that reads the head, and the body only when `rest` is called. */
export class SlowClient {
  readonly #socket: Socket;
  #chunks: Buffer[] = [];
  readonly closed: Promise<unknown>;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => undefined);
  }

  static async start(asker: ListAsker, target: string): Promise<SlowClient> {
    const socket = connect(asker.port, '127.0.0.1');
    const client = new SlowClient(socket);
    socket.write(headOf(asker, target, {}));
    const [first] = (await once(socket, 'data')) as [Buffer];
    socket.pause();
    client.#chunks.push(first);
    return client;
  }

  get head(): string {
    return Buffer.concat(this.#chunks).toString('latin1').split('\r\n\r\n')[0] ?? '';
  }

  get length(): number {
    return Number(/content-length: (\d+)/i.exec(this.head)?.[1]);
  }

  /** Reads everything until the connection closes. */
  async rest(): Promise<string> {
    this.#socket.on('data', (chunk: Buffer) => this.#chunks.push(chunk));
    this.#socket.resume();
    await this.closed;
    const text = Buffer.concat(this.#chunks).toString('latin1');
    return text.slice(text.indexOf('\r\n\r\n') + 4);
  }

  destroy(): void {
    this.#socket.destroy();
  }
}
