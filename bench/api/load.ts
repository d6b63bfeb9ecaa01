/**
 * Puts load on an HTTP server over several kept-alive connections, each with one request at a time. The client shares
 * the machine with the server, so it does as little as possible: it sends prepared bytes and reads only the length of
 * the answer.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Target {
  readonly port: number;
  /** The path of the request with this number. */
  readonly path: (request: number) => string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Load {
  readonly connections: number;
  readonly ms: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  /** Latency of every request. */
  readonly latenciesMs: readonly number[];
}

export async function putLoad(target: Target, { connections, ms }: Load): Promise<LoadResult> {
  const latenciesMs: number[] = [];
  const startMs = performance.now();
  let next = 0;
  const one = async (): Promise<void> => {
    const wire = await Wire.open(target);
    try {
      while (performance.now() - startMs < ms) {
        const sentMs = performance.now();
        await wire.request(target.path(next++));
        latenciesMs.push(performance.now() - sentMs);
      }
    } finally {
      wire.close();
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
  const seconds = (performance.now() - startMs) / 1000;
  return { requests: latenciesMs.length, seconds, latenciesMs };
}

const END_OF_HEAD = '\r\n\r\n';

/** One connection. It understands only answers with a Content-Length, as the measured servers send them. */
class Wire {
  #received: Buffer = Buffer.alloc(0);
  #done: { resolve: () => void; reject: (error: Error) => void } | undefined;
  readonly #headers: string;

  private constructor(
    private readonly socket: Socket,
    { headers, port }: Target,
  ) {
    this.#headers = Object.entries({ host: `127.0.0.1:${port}`, ...headers })
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
    socket.on('data', (chunk: Buffer) => {
      this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
      this.#read();
    });
    socket.on('error', (error) => this.#done?.reject(error));
    socket.on('close', () => this.#done?.reject(new Error('the server closed the connection')));
  }

  static async open(target: Target): Promise<Wire> {
    const socket = connect({ port: target.port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    return new Wire(socket, target);
  }

  request(path: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#done = { resolve, reject };
      this.socket.write(`GET ${path} HTTP/1.1\r\n${this.#headers}\r\n`);
    });
  }

  close(): void {
    this.#done = undefined;
    this.socket.destroy();
  }

  #read(): void {
    const headEnd = this.#received.indexOf(END_OF_HEAD);
    if (headEnd < 0) return;
    const head = this.#received.toString('latin1', 0, headEnd);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
    const whole = headEnd + END_OF_HEAD.length + length;
    if (this.#received.length < whole) return;
    this.#received = this.#received.subarray(whole);
    if (head.startsWith('HTTP/1.1 200 ')) this.#done?.resolve();
    else this.#done?.reject(new Error(`the server answered ${head.slice(0, 200)}`));
  }
}
