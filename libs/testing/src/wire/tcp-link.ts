import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** The network between two programs, by TCP: what is cut takes connections and bytes, and passes nothing on. */
export class TcpLink {
  private readonly sockets = new Set<Socket>();
  private isCut = false;
  private listenPort = 0;
  private readonly server = createServer((near) => {
    this.join(near);
  });

  constructor(private readonly target: { readonly host: string; readonly port: number }) {}

  /** The same one from the first `open` on; 0 before. */
  get port(): number {
    return this.listenPort;
  }

  async open(): Promise<void> {
    this.isCut = false;
    this.server.listen(this.listenPort, '127.0.0.1');
    await once(this.server, 'listening');
    this.listenPort = (this.server.address() as AddressInfo).port;
  }

  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) socket.pause();
  }

  /** What was held goes on. */
  resume(): void {
    this.isCut = false;
    for (const socket of this.sockets) socket.resume();
  }

  /** What was held is gone; new connections pass. */
  renew(): void {
    this.isCut = false;
    for (const socket of this.sockets) socket.destroy();
  }

  /** New connections are refused; it may be opened again. */
  async close(): Promise<void> {
    if (!this.server.listening) return;
    const closed = once(this.server, 'close');
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private join(near: Socket): void {
    const far = connect(this.target.port, this.target.host);
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
