import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** The network between two programs, by TCP: what is cut takes connections and bytes, and passes nothing on. */
export class HeldLink {
  private readonly sockets = new Set<Socket>();
  private isCut = false;
  private readonly server = createServer((near) => {
    this.join(near);
  });

  private constructor(private readonly target: number) {}

  static async start(targetPort: number): Promise<HeldLink> {
    const link = new HeldLink(targetPort);
    link.server.listen(0, '127.0.0.1');
    await once(link.server, 'listening');
    return link;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) socket.pause();
  }

  /** What was under way is gone; new connections pass. */
  mend(): void {
    this.isCut = false;
    for (const socket of this.sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private join(near: Socket): void {
    const far = connect(this.target, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
      if (this.isCut) from.pause();
    }
  }
}
