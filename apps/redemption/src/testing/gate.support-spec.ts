/** An address where nobody answers until it is opened; from then on a node of one's choice does. Counts as a test file. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from '#libs/devprocess';

export class Gate {
  private readonly sockets = new Set<Socket>();
  private server: Server | undefined;

  private constructor(private readonly port: number) {}

  static async closed(): Promise<Gate> {
    return new Gate(await freePort());
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
