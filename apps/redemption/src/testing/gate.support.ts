/**
 * An address that refuses connections until it is opened; from then on it leads to a given node. Named as a test file,
 * without tests of its own.
 */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** Ports that the system does not assign to connections by itself, as it may with a port that was free a moment ago. */
const QUIET_PORTS = { from: 20_000, count: 12_000 };
const TRIES = 20;

/** @returns a loopback port on which nothing listens */
async function quietPort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = QUIET_PORTS.from + Math.floor(Math.random() * QUIET_PORTS.count);
    const probe = createServer().listen(port, '127.0.0.1');
    // `once` rejects where the port is taken.
    const isFree = await once(probe, 'listening').then(
      () => true,
      () => false,
    );
    probe.close();
    if (isFree) return port;
  }
  throw new Error('no free port was found');
}

export class Gate {
  private readonly sockets = new Set<Socket>();
  private server: Server | undefined;

  private constructor(private readonly port: number) {}

  static async closed(): Promise<Gate> {
    return new Gate(await quietPort());
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async open(node: string): Promise<void> {
    const { hostname, port } = new URL(node);
    this.server = createServer((socket) => {
      const onward = connect(Number(port), hostname);
      for (const [one, other] of [
        [socket, onward],
        [onward, socket],
      ] as const) {
        this.sockets.add(one);
        one.on('error', () => one.destroy());
        one.on('close', () => other.destroy());
        one.pipe(other);
      }
    }).listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
  }

  close(): void {
    this.server?.close();
    for (const socket of this.sockets) socket.destroy();
    this.sockets.clear();
  }
}
