/** Every way of the fault table in which a partner, or a proxy before it, misbehaves; its books stay honest. */
import { type Socket } from 'node:net';
import { canonicalJson, PARTNER_ERROR_CODES } from '#libs/domain';
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
  /** The signed answer to the call before, of whatever redemption and step; a proxy has seen it. */
  readonly earlierAnswer: AnswerFields | undefined;
  /** Called with each signed answer. */
  keepAnswer(answer: AnswerFields): void;
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

/** A balance read on its socket, as far as a proxy needs it. */
export type BalanceVisit = Pick<Visit, 'socket' | 'dice' | 'bystanderId' | 'earlierAnswer'>;

function send({ socket }: Pick<Visit, 'socket'>, fields: AnswerFields): void {
  socket.end(answerBytes(fields));
}

export function sendSigned(visit: Visit, answer: object, fields: Partial<AnswerFields> = {}): void {
  const body = canonicalJson(answer);
  const signed = { body, signature: signatureOf(visit.request, body, visit.secret), ...fields };
  visit.keepAnswer(signed);
  send(visit, signed);
}

/** An error of the interface that no partner has signed, with any status that may carry one. */
function sendInvented(visit: BalanceVisit): void {
  const { dice, bystanderId: partnerTransactionId } = visit;
  const status = dice.pick([200, 400, 401, 404, 409, 422]);
  const answer = { ...refusal(dice.pick(PARTNER_ERROR_CODES)), partnerTransactionId };
  send(visit, { status, body: canonicalJson(answer) });
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

/** What a proxy on the way to the partner does, besides losing, holding and copying calls (`lost`, `late`, `copied`). */
const ON_THE_WAY = {
  'refusal-invented': (visit) => {
    visit.handle();
    sendInvented(visit);
  },
  'refusal-invented-call-dropped': (visit) => {
    sendInvented(visit);
  },
  'refusal-invented-call-held': (visit) => {
    visit.copyLater();
    sendInvented(visit);
  },
  'answers-swapped': (visit) => {
    const before = visit.earlierAnswer;
    const answer = visit.handle();
    visit.keepAnswer({ body: canonicalJson(answer) });
    if (before === undefined) sendInvented(visit);
    else send(visit, before);
  },
  'answer-replayed': (visit) => {
    if (visit.earlierAnswer === undefined) sendInvented(visit);
    else send(visit, visit.earlierAnswer);
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

const BY_NAME = { ...UNHEARD, ...UNTOLD, ...ON_THE_WAY, ...SPECIAL };
export type FaultName = keyof typeof BY_NAME;

export const FAULTS: Readonly<Record<BookRequest['step'], readonly FaultName[]>> = {
  deduct: names({ ...UNHEARD, ...UNTOLD, ...ON_THE_WAY }).concat(
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
  revert: names({ ...UNHEARD, ...UNTOLD, ...ON_THE_WAY }).concat(
    'reused-revert-id',
    'not-found-for-now',
    'amount-disputed',
  ),
  // `success: true` with 200 is enough for a confirmation, so a proxy could withhold it for ever.
  confirm: names({ ...UNHEARD, ...UNTOLD, ...ON_THE_WAY }).filter(
    (name) => !['success-from-nowhere', 'answer-replayed', 'answers-swapped'].includes(name),
  ),
};

/** Faults after which the books never learn of the call. */
export const DEAF_FAULTS = names(UNHEARD).filter((name) => name !== 'late');

function names(faults: object): FaultName[] {
  return Object.keys(faults) as FaultName[];
}

export function misbehave(fault: FaultName, visit: Visit): void {
  BY_NAME[fault](visit);
}

/** What a proxy makes of the answer to a balance read. `answer` is the partner's own. */
export const BALANCE_FAULTS = {
  'balance-refused': (visit) => {
    sendInvented(visit);
  },
  'balance-raised': (visit, answer) => {
    send(visit, { body: canonicalJson({ ...answer, success: true, points: 1_000_000_000 }) });
  },
  'balance-replayed': (visit) => {
    if (visit.earlierAnswer === undefined) sendInvented(visit);
    else send(visit, visit.earlierAnswer);
  },
  'balance-lost': ({ socket }) => {
    socket.end();
  },
} as const satisfies Record<string, (visit: BalanceVisit, answer: BookAnswer) => void>;
export type BalanceFaultName = keyof typeof BALANCE_FAULTS;
