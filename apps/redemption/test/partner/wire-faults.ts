/** Every way of the fault table in which a partner, or a proxy before it, misbehaves; its books stay honest. */
import { type Socket } from 'node:net';
import { canonicalJson } from '#libs/domain';
import { type Dice } from '../world/dice.js';
import { type BookAnswer, type BookRequest, refusal } from './partner-books.js';
import { answerBytes, type AnswerFields, type SeenRequest, signatureOf } from './seen-request.js';

/** One call on its socket, and what a fault may do with it. */
export interface Visit {
  readonly socket: Socket;
  readonly request: SeenRequest;
  readonly call: BookRequest;
  readonly secret: string;
  readonly dice: Dice;
  /** This partner's ids that the service has recorded for other redemptions. */
  readonly knownTransactionIds: readonly string[];
  readonly knownRevertIds: readonly string[];
  readonly bystanderId: string;
  /** Lets the books do what the call asks for. */
  handle(): BookAnswer;
  /** Lets the same call arrive at the books once more, later. */
  copyLater(): void;
  /** Answers nothing until the caller gives up; the simulated time may advance meanwhile. */
  stall(): void;
}

type WireFault = (visit: Visit) => void;

const HTML = '<html><body>Bad gateway</body></html>';
const HALF_SECOND_STEP_MS = 60;

function send({ socket }: Visit, fields: AnswerFields): void {
  socket.end(answerBytes(fields));
}

export function sendSigned(visit: Visit, answer: object, fields: Partial<AnswerFields> = {}): void {
  const body = canonicalJson(answer);
  send(visit, { body, signature: signatureOf(visit.request, body, visit.secret), ...fields });
}

function trickle(visit: Visit, bytes: Buffer): void {
  visit.stall();
  let at = 0;
  const timer = setInterval(() => {
    if (visit.socket.destroyed || at >= bytes.length - 1) clearInterval(timer);
    else visit.socket.write(bytes.subarray(at, ++at));
  }, HALF_SECOND_STEP_MS);
  timer.unref();
}

/** Faults in which the books do nothing. */
const UNHEARD = {
  lost: (visit) => {
    visit.stall();
  },
  late: (visit) => {
    visit.copyLater();
    visit.stall();
  },
  'reset-at-once': ({ socket }) => {
    socket.resetAndDestroy();
  },
  'hung-up': ({ socket }) => {
    socket.end();
  },
  'bad-gateway': (visit) => {
    send(visit, { status: 502, body: HTML, headers: { 'content-type': 'text/html' } });
  },
  'rate-limited': (visit) => {
    const after = visit.dice.pick(['1', '30', '9999', 'soon']);
    sendSigned(visit, refusal('ERR-INTERNAL'), { status: 429, headers: { 'retry-after': after } });
  },
  redirected: (visit) => {
    send(visit, { status: 307, body: '', headers: { location: 'http://127.0.0.1:9/elsewhere' } });
  },
  'no-envelope': (visit) => {
    send(visit, { status: 404, body: HTML, headers: { 'content-type': 'text/html' } });
  },
  'auth-failed': (visit) => {
    sendSigned(visit, refusal('ERR-AUTH-FAILED'), { status: visit.dice.pick([200, 401]) });
  },
  'internal-before': (visit) => {
    sendSigned(visit, refusal('ERR-INTERNAL'), { status: visit.dice.pick([200, 500]) });
  },
  'unknown-code': (visit) => {
    sendSigned(visit, { success: false, errorCode: 'ERR-MAINTENANCE', errorMessage: 'Later.' });
  },
  'wrong-step': (visit) => {
    sendSigned(visit, refusal('ERR-REDEMPTION-NOT-FOUND'));
  },
  'not-http': ({ socket }) => {
    socket.end('EHLO partner\r\n');
  },
  'success-from-nowhere': (visit) => {
    const partnerTransactionId = visit.bystanderId;
    send(visit, { body: canonicalJson({ success: true, partnerTransactionId }) });
  },
} as const satisfies Record<string, WireFault>;

/** Faults in which the books do or refuse the call, and the caller does not learn so. */
const UNTOLD = {
  'answer-lost': (visit) => {
    visit.handle();
    visit.stall();
  },
  'answer-reset': (visit) => {
    visit.handle();
    visit.socket.resetAndDestroy();
  },
  'half-answer': (visit) => {
    const bytes = answerBytes({ body: canonicalJson(visit.handle()) });
    visit.socket.end(bytes.subarray(0, bytes.length - visit.dice.between(1, 20)));
  },
  'slow-answer': (visit) => {
    trickle(visit, answerBytes({ body: canonicalJson(visit.handle()) }));
  },
  'too-large': (visit) => {
    sendSigned(visit, { ...visit.handle(), padding: 'x'.repeat(70_000) });
  },
  unsigned: (visit) => {
    send(visit, { body: canonicalJson(visit.handle()) });
  },
  forged: (visit) => {
    const body = canonicalJson(visit.handle());
    send(visit, { body, signature: signatureOf(visit.request, body, 'another secret') });
  },
  'signed-something-else': (visit) => {
    const signature = signatureOf(visit.request, '{}', visit.secret);
    send(visit, { body: canonicalJson(visit.handle()), signature });
  },
  'not-json': (visit) => {
    const body = canonicalJson(visit.handle()).slice(0, -1);
    send(visit, { body, signature: signatureOf(visit.request, body, visit.secret) });
  },
  'success-no-boolean': (visit) => {
    sendSigned(visit, { ...visit.handle(), success: visit.dice.pick(['true', 1, null]) });
  },
  'bad-id': (visit) => {
    const partnerTransactionId = visit.dice.pick(['', 'x'.repeat(256), 17, null, 'a\u0000b']);
    const answer = visit.handle();
    sendSigned(visit, answer.success ? { ...answer, partnerTransactionId } : answer);
  },
  'server-error-after': (visit) => {
    sendSigned(visit, visit.handle(), { status: visit.dice.pick([500, 502, 503]) });
  },
  'internal-after': (visit) => {
    visit.handle();
    sendSigned(visit, refusal('ERR-INTERNAL'));
  },
  copied: (visit) => {
    const answer = visit.handle();
    if (answer.success) visit.copyLater();
    sendSigned(visit, answer);
  },
} as const satisfies Record<string, WireFault>;

/** Answers in the interface's own words that are possible at this step only. */
const SPECIAL = {
  'refuses-to-deduct': (visit) => {
    const code = visit.dice.pick(['ERR-INSUFFICIENT-POINTS', 'ERR-USER-NOT-FOUND'] as const);
    sendSigned(visit, refusal(code), { status: visit.dice.pick([200, 400, 404]) });
  },
  'duplicate-of-nothing': (visit) => {
    sendSigned(visit, refusal('ERR-DUPLICATE-REQUEST'), { status: 409 });
  },
  'reused-transaction-id': (visit) => {
    const answer = visit.handle();
    const [id] = visit.knownTransactionIds;
    sendSigned(visit, answer.success && id ? { ...answer, partnerTransactionId: id } : answer);
  },
  'reused-revert-id': (visit) => {
    const answer = visit.handle();
    const id = visit.knownRevertIds[0] ?? answer['partnerTransactionId'];
    sendSigned(visit, answer.success ? { ...answer, partnerRevertId: id } : answer);
  },
  'not-found-for-now': (visit) => {
    sendSigned(visit, refusal('ERR-TRANSACTION-NOT-FOUND'));
  },
  'amount-disputed': (visit) => {
    sendSigned(visit, refusal('ERR-INVALID-AMOUNT'));
  },
} as const satisfies Record<string, WireFault>;

const BY_NAME = { ...UNHEARD, ...UNTOLD, ...SPECIAL };
export type FaultName = keyof typeof BY_NAME;

export const FAULTS: Readonly<Record<BookRequest['step'], readonly FaultName[]>> = {
  deduct: names({ ...UNHEARD, ...UNTOLD }).concat(
    'refuses-to-deduct',
    'refuses-to-deduct',
    'duplicate-of-nothing',
    'duplicate-of-nothing',
    'reused-transaction-id',
    // Three times, since most ways of the rules exist for calls that arrive late.
    'late',
    'late',
    'late',
  ),
  revert: names({ ...UNHEARD, ...UNTOLD }).concat(
    'reused-revert-id',
    'not-found-for-now',
    'amount-disputed',
  ),
  confirm: names({ ...UNHEARD, ...UNTOLD }).filter((name) => name !== 'success-from-nowhere'),
};

/** Faults after which the books never learn of the call. */
export const DEAF_FAULTS = names(UNHEARD).filter((name) => name !== 'late');

function names(faults: object): FaultName[] {
  return Object.keys(faults) as FaultName[];
}

export function misbehave(fault: FaultName, visit: Visit): void {
  BY_NAME[fault](visit);
}
