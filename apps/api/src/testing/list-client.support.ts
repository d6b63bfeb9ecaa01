/** Clients that read lists of days. Named so that it counts as a test file, but holds no tests. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { dayText } from '#libs/domain';
import { type RawAnswer } from './wire.support.js';

export const listPath = (day: number, form = 'ndjson'): string =>
  `/api/staking/days/${dayText(day)}/wallets.${form}`;

export async function askList(
  url: string,
  apiKey: string,
  headers: Readonly<Record<string, string>> = {},
  method = 'GET',
): Promise<RawAnswer> {
  const all = { 'accept-encoding': 'identity', 'x-api-key': apiKey, ...headers };
  const answer = await fetch(url, { method, headers: all });
  const { status } = answer;
  return { status, headers: Object.fromEntries(answer.headers), body: await answer.text() };
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

  static async start(port: number, apiKey: string, target: string): Promise<SlowClient> {
    const socket = connect(port, '127.0.0.1');
    const client = new SlowClient(socket);
    const head = `GET ${target} HTTP/1.1\r\nhost: api\r\nconnection: close\r\nx-api-key: ${apiKey}\r\n\r\n`;
    socket.write(head);
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
