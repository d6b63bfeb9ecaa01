import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * A TCP proxy that stands for the network between two programs. While it is cut, it accepts connections and bytes but
 * forwards nothing.
 */
export class TcpLink {
  /** Chunks of bytes from clients since the start, to count round trips. */
  packets = 0;
  private readonly sockets = new Set<Socket>();
  private isCut = false;
  private listenPort = 0;
  private readonly server = createServer((near) => {
    this.join(near);
  });

  constructor(private target: { readonly host: string; readonly port: number }) {}

  /** The port, which stays the same from the first `open` on; 0 before. */
  get port(): number {
    return this.listenPort;
  }

  async open(): Promise<void> {
    this.isCut = false;
    this.server.listen(this.listenPort, '127.0.0.1');
    await once(this.server, 'listening');
    this.listenPort = (this.server.address() as AddressInfo).port;
  }

  /** New connections lead to another server; the open ones stay as they are. */
  leadTo(target: { readonly host: string; readonly port: number }): void {
    this.target = target;
  }

  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) socket.pause();
  }

  /** Forwards the held bytes and all later ones. */
  resume(): void {
    this.isCut = false;
    for (const socket of this.sockets) socket.resume();
  }

  /** Closes the open connections with their held bytes; new connections pass. */
  renew(): void {
    this.isCut = false;
    for (const socket of this.sockets) socket.destroy();
  }

  /** Refuses new connections and closes the open ones. `open` may follow. */
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
    near.on('data', () => (this.packets += 1));
  }
}
