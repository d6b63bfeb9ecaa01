import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { type ChaosPartner } from './chaos-partner.js';
import { requestIn, sendRefusal } from './seen-request.js';

/** All partners on one port, each under a base path of its own. */
export class ChaosServer {
  private readonly partners = new Map<string, ChaosPartner>();
  private readonly open = new Set<Socket>();
  private readonly stalls = new Set<Socket>();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<ChaosServer> {
    const server = createServer();
    const chaos = new ChaosServer(server);
    server.on('connection', (socket) => {
      chaos.serve(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return chaos;
  }

  /** Number of calls that will get no answer; their callers may wait for a timeout. */
  get stalledCalls(): number {
    return this.stalls.size;
  }

  stall(socket: Socket): void {
    this.stalls.add(socket);
  }

  add(partner: ChaosPartner): void {
    this.partners.set(partner.name, partner);
  }

  urlOf(partner: ChaosPartner): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/p/${partner.name}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.open) socket.destroy();
    await new Promise<void>((resolve) => {
      this.server.close(() => {
        resolve();
      });
    });
  }

  private serve(socket: Socket): void {
    this.open.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.open.delete(socket);
      this.stalls.delete(socket);
    });
    let received = Buffer.alloc(0);
    let answered = false;
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const request = answered ? undefined : requestIn(received);
      if (request === undefined) return;
      answered = true;
      const [, , name = '', ...route] = request.path.split('/');
      const partner = this.partners.get(name);
      if (partner === undefined) socket.end(sendRefusal(404));
      else partner.receive(socket, request, `/${route.join('/')}`);
    });
  }
}
