/** A partner with honest books that does not hear a share of the calls, on a real socket. */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { canonicalJson } from '#libs/domain';
import { type Dice } from '../world/dice.js';
import { type BookRequest, PartnerBooks, type PartnerNature, refusal } from './partner-books.js';
import {
  answerBytes,
  requestIn,
  type SeenRequest,
  sendRefusal,
  signatureOf,
} from './seen-request.js';

export interface PartnerTemper {
  readonly nature: PartnerNature;
  /** Probability that a call does not reach the books. */
  readonly faultRate: number;
  readonly dice: Dice;
  readonly nowMs: () => number;
}

const HTML = '<html><body>Bad gateway</body></html>';
const HTML_TYPE = { 'content-type': 'text/html' };
const STEPS = new Map<string, BookRequest['step']>([
  ['/deduct-points-by-address', 'deduct'],
  ['/revert-deduct-points', 'revert'],
  ['/confirm-redemption', 'confirm'],
]);

/** What happens to a call that the books do not hear; `signed` is an answer in the partner's name. */
const FAULTS: readonly ((socket: Socket, signed: (answer: object) => Buffer) => void)[] = [
  () => undefined,
  (socket) => socket.resetAndDestroy(),
  (socket) => socket.end(),
  (socket) => socket.end(answerBytes({ status: 502, body: HTML, headers: HTML_TYPE })),
  (socket) => socket.end(answerBytes({ status: 404, body: HTML, headers: HTML_TYPE })),
  (socket) => socket.end(answerBytes({ status: 307, body: '', headers: { location: '/other' } })),
  (socket, signed) => socket.end(signed(refusal('ERR-INTERNAL'))),
  (socket) => socket.end('EHLO partner\r\n'),
];

export class FailingPartner {
  readonly name = 'partner';
  readonly apiKey = 'key-of-the-partner';
  readonly secret = 'secret-of-the-partner';
  readonly books: PartnerBooks;
  /** X-API-REQUEST of each call, by redemption id. */
  readonly calls = new Map<string, string[]>();
  /** Requests that no partner should get. */
  readonly oddities: string[] = [];
  /** Bodies of all confirmations that arrived, whatever the answer, by redemption id. */
  readonly confirmations = new Map<string, string[]>();
  /** Step of which no call reaches the books, until it is changed. */
  deafTo: BookRequest['step'] | undefined;
  private faultRate: number;
  private readonly requestIds = new Set<string>();
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly temper: PartnerTemper,
  ) {
    this.books = new PartnerBooks(this.name, temper.nature);
    this.faultRate = temper.faultRate;
  }

  static async start(temper: PartnerTemper): Promise<FailingPartner> {
    const server = createServer();
    const partner = new FailingPartner(server, temper);
    server.on('connection', (socket) => {
      partner.serve(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return partner;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get callCount(): number {
    return this.requestIds.size;
  }

  heal(): void {
    this.faultRate = 0;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private serve(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.sockets.delete(socket));
    let received = Buffer.alloc(0);
    let isAnswered = false;
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const request = isAnswered ? undefined : requestIn(received);
      if (request === undefined) return;
      isAnswered = true;
      this.receive(socket, request);
    });
  }

  private receive(socket: Socket, request: SeenRequest): void {
    const { temper } = this;
    const signed = (answer: object): Buffer => {
      const body = canonicalJson(answer);
      return answerBytes({ body, signature: signatureOf(request, body, this.secret) });
    };
    if (request.method === 'GET' && request.path === '/get-points-by-address') {
      socket.end(signed(this.books.balanceOf(request.query.get('address') ?? '')));
      return;
    }
    const step = STEPS.get(request.path);
    if (step === undefined || request.method !== 'POST') {
      this.oddities.push(`${request.method} ${request.path}`);
      socket.end(sendRefusal(404));
      return;
    }
    const call = { step, body: JSON.parse(request.body) as unknown } as BookRequest;
    const requestId = this.note(call, request);
    if (step === this.deafTo || temper.dice.chance(this.faultRate)) {
      temper.dice.pick(FAULTS)(socket, signed);
    } else {
      socket.end(signed(this.books.handle(call, requestId, temper.nowMs())));
    }
  }

  private note({ step, body }: BookRequest, request: SeenRequest): string {
    const requestId = request.header('x-api-request') ?? '';
    const { svcRedemptionId: id } = body;
    if (
      request.header('x-api-key') !== this.apiKey ||
      request.header('x-api-signature') !== signatureOf(request, request.body, this.secret)
    ) {
      this.oddities.push(`${requestId} is not signed for the partner`);
    }
    // Rule C: each attempt has an id of its own.
    if (this.requestIds.has(requestId)) this.oddities.push(`${requestId} was sent twice`);
    this.requestIds.add(requestId);
    this.calls.set(id, [...(this.calls.get(id) ?? []), requestId]);
    if (step === 'confirm') {
      this.confirmations.set(id, [...(this.confirmations.get(id) ?? []), request.body]);
    }
    return requestId;
  }
}
