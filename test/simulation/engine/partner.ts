/**
 * A partner with honest books behind a front end that misbehaves, and a proxy on the way to it that loses, holds,
 * copies, replays, swaps and invents. Each fault is one way in which a call may end.
 */
import {
  canonicalJson,
  PARTNER_ERROR_CODES,
  type PartnerErrorCode,
  type PartnerId,
} from '#libs/domain';
import { type WireRequest } from '#libs/partner-client';
import { hmacSha256Hex } from '#libs/signing';
import {
  type BookAnswer,
  type BookRequest,
  PartnerBooks,
  refusal,
} from '../../../apps/redemption/test/partner/partner-books.js';
import { type Choices } from '../kernel/index.js';
import { type PartnerPlan } from './plan.js';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What the caller sees of a call. */
export type CallFate =
  | ({ readonly kind: 'answer' } & Answer)
  /** Nothing comes until the caller gives up. */
  | { readonly kind: 'silence' }
  | { readonly kind: 'reset' }
  | { readonly kind: 'half' };

/** One call that has arrived at the proxy. */
export interface Visit {
  readonly request: WireRequest;
  readonly requestId: string;
  readonly path: string;
  /** Undefined for a balance read. */
  readonly call: BookRequest | undefined;
  readonly address: string;
}

export interface Fault {
  readonly name: string;
  readonly weight: number;
  readonly fate: (visit: Visit) => CallFate;
}

/** How long a proxy holds a call, in milliseconds. */
const HELD_MS = [1000, 60_000, 150_000, 240_000, 290_000, 310_000, 1_800_000, 20_000_000];
const HTML = '<html><body>Bad gateway</body></html>';
const OTHER_SECRET = 'another secret';

export class SimulatedPartner {
  readonly books: PartnerBooks;
  /** All confirmations that arrived, by redemption id. */
  readonly confirmations = new Map<string, string[]>();
  /** Transaction and revert ids that the service has recorded. */
  readonly knownIds: { transaction: string[]; revert: string[] } = { transaction: [], revert: [] };
  /** Copies of deductions that may still arrive, by redemption id. */
  readonly copies = new Map<string, number>();
  isHealed = false;
  /** Grows with all that may change the books or the confirmations. */
  changes = 0;
  private faults = 0;
  private readonly seenAnswers: Answer[] = [];

  constructor(
    readonly id: PartnerId,
    readonly plan: PartnerPlan,
    private readonly choices: Choices,
    private readonly around: {
      nowMs(): number;
      /** Does something of the world later. */
      later(ms: number, what: () => void): void;
      note(what: string): void;
    },
  ) {
    this.books = new PartnerBooks(plan.name, plan.nature);
  }

  get secret(): string {
    return `secret-of-${this.plan.name}`;
  }

  get key(): string {
    return `key-of-${this.plan.name}`;
  }

  get url(): string {
    return `https://${this.plan.name}.example`;
  }

  get behaves(): boolean {
    return this.isHealed || this.faults >= this.plan.mostFaults || this.plan.faultsPerMille === 0;
  }

  /** Whether a copy of a deduction may still arrive. */
  get isCallHeld(): boolean {
    return [...this.copies.values()].some((count) => count > 0);
  }

  visitOf(request: WireRequest): Visit {
    const [path = '', query = ''] = request.target.split('?');
    const requestId = request.headers['X-API-REQUEST'] ?? '';
    if (path.endsWith('/get-points-by-address')) {
      const address = new URLSearchParams(query).get('address') ?? '';
      return { request, requestId, path, call: undefined, address };
    }
    const body = JSON.parse(request.body) as BookRequest['body'];
    const step = path.endsWith('/deduct-points-by-address')
      ? 'deduct'
      : path.endsWith('/revert-deduct-points')
        ? 'revert'
        : 'confirm';
    const call = { step, body } as BookRequest;
    return { request, requestId, path, call, address: body.address };
  }

  /** The ways in which the call may end; the first is the honest one. */
  endsOf(visit: Visit): [Fault, ...Fault[]] {
    const honest: Fault = { name: 'done', weight: 1, fate: (one) => this.honest(one) };
    const { faultsPerMille } = this.plan;
    if (this.behaves) return [honest];
    const names = this.faultsOf(visit);
    // Weights are whole numbers: all faults together have their share of 1,000.
    const share = Math.max(1, Math.round(faultsPerMille / names.length));
    const rest = Math.max(0, 1000 - faultsPerMille);
    return [
      { ...honest, weight: rest },
      ...names.map((name) => ({
        name,
        weight: share,
        fate: (one: Visit): CallFate => {
          this.faults++;
          return FATES[name](this, one);
        },
      })),
    ];
  }

  /** Lets the books do what the call asks for. */
  handle({ call, requestId, address, request }: Visit): BookAnswer {
    if (call === undefined) return this.books.balanceOf(address);
    this.changes++;
    if (call.step === 'confirm') {
      const { svcRedemptionId } = call.body;
      const bodies = this.confirmations.get(svcRedemptionId) ?? [];
      this.confirmations.set(svcRedemptionId, [...bodies, request.body]);
    }
    return this.books.handle(call, requestId, this.around.nowMs());
  }

  /** Gives points back by hand, at an operator's request. */
  restoreByHand(redemptionId: string): void {
    this.changes++;
    this.books.restoreByHand(redemptionId);
  }

  /** Lets a copy of the call arrive later. */
  copyLater(visit: Visit): void {
    const id = visit.call?.body.svcRedemptionId ?? '';
    const count = visit.call?.step === 'deduct' ? 1 : 0;
    this.copies.set(id, (this.copies.get(id) ?? 0) + count);
    this.around.later(this.choices.pick('held', HELD_MS), () => {
      this.copies.set(id, (this.copies.get(id) ?? 0) - count);
      const { success } = this.handle(visit);
      const step = visit.call?.step ?? 'balance';
      this.around.note(`${this.plan.name} gets a late copy of ${step}: ${success ? 'done' : 'no'}`);
    });
  }

  honest(visit: Visit): CallFate {
    const answer = this.handle(visit);
    return answer.success || this.plan.nature.signsRefusals
      ? this.signed(visit, answer)
      : { kind: 'answer', ...unsigned(answer, 422) };
  }

  signed(visit: Visit, answer: object, of: Partial<Answer> = {}): CallFate {
    const body = canonicalJson(answer);
    const signature = signatureOf(visit, body, this.secret);
    const headers = { ...JSON_TYPE, 'x-api-signature': signature, ...of.headers };
    const whole = { status: of.status ?? 200, headers, body };
    this.seenAnswers.push(whole);
    return { kind: 'answer', ...whole };
  }

  pick<T>(items: readonly T[]): T {
    return this.choices.pick('fault', items);
  }

  /** An answer that the proxy has seen before. */
  earlier(): Answer | undefined {
    return this.seenAnswers.length === 0 ? undefined : this.pick(this.seenAnswers.slice(-4));
  }

  private faultsOf({ call }: Visit): FaultName[] {
    if (call === undefined) return BALANCE_FAULTS;
    const { svcRedemptionId: id } = call.body;
    const stands = this.books.standing(id) !== undefined;
    const { mood } = this.plan;
    const names = call.step === 'deduct' && mood ? mood : FAULTS[call.step];
    const namesId = call.step === 'revert' && call.body.partnerTransactionId !== undefined;
    return names.filter((name) => {
      if (name === 'refuses-to-deduct') return this.books.of(id).length === 0;
      if (name === 'reused-transaction-id') return this.knownIds.transaction.length > 0;
      if (name === 'amount-disputed') return stands;
      // A partner may fail to find a deduction that it confirmed; of another its answer is proof.
      if (name === 'not-found-for-now') return stands && namesId;
      return true;
    });
  }
}

const JSON_TYPE = { 'content-type': 'application/json' };

function signatureOf({ request, path, requestId }: Visit, body: string, secret: string): string {
  return hmacSha256Hex(secret, request.identity.method + path + requestId + body);
}

function unsigned(answer: object, status = 200): Answer {
  return { status, headers: JSON_TYPE, body: canonicalJson(answer) };
}

/** An error of the interface that no partner has signed. */
function invented(partner: SimulatedPartner): CallFate {
  const code: PartnerErrorCode = partner.pick(PARTNER_ERROR_CODES);
  const partnerTransactionId = `${partner.plan.name}-tx-bystander`;
  const status = partner.pick([200, 400, 401, 404, 409, 422]);
  return { kind: 'answer', ...unsigned({ ...refusal(code), partnerTransactionId }, status) };
}

function replayed(partner: SimulatedPartner): CallFate {
  const earlier = partner.earlier();
  return earlier === undefined ? invented(partner) : { kind: 'answer', ...earlier };
}

const html = (status: number): CallFate => ({
  ...{ kind: 'answer', status, body: HTML },
  headers: { 'content-type': 'text/html' },
});

const FATES = {
  // The books hear nothing of the call.
  lost: () => ({ kind: 'silence' }),
  held: (partner, visit) => {
    partner.copyLater(visit);
    return { kind: 'silence' };
  },
  'reset at once': () => ({ kind: 'reset' }),
  'bad gateway': () => html(502),
  'no envelope': () => html(404),
  'rate limited': (partner, visit) => {
    const after = partner.pick(['1', '30', '9999', 'soon']);
    const headers = { 'retry-after': after };
    return partner.signed(visit, refusal('ERR-INTERNAL'), { status: 429, headers });
  },
  redirected: () => ({
    ...{ kind: 'answer', status: 307, body: '' },
    headers: { location: 'https://elsewhere.example' },
  }),
  'authentication failed': (partner, visit) =>
    partner.signed(visit, refusal('ERR-AUTH-FAILED'), { status: partner.pick([200, 401]) }),
  'internal error before': (partner, visit) =>
    partner.signed(visit, refusal('ERR-INTERNAL'), { status: partner.pick([200, 500]) }),
  'unknown code': (partner, visit) =>
    partner.signed(visit, { success: false, errorCode: 'ERR-MAINTENANCE', errorMessage: 'No.' }),
  'success from nowhere': (partner) => {
    const partnerTransactionId = `${partner.plan.name}-tx-bystander`;
    return { kind: 'answer', ...unsigned({ success: true, partnerTransactionId }) };
  },
  // The books do or refuse the call, and the caller does not learn so.
  'answer lost': (partner, visit) => {
    partner.handle(visit);
    return { kind: 'silence' };
  },
  'answer reset': (partner, visit) => {
    partner.handle(visit);
    return { kind: 'reset' };
  },
  'half an answer': (partner, visit) => {
    partner.handle(visit);
    return { kind: 'half' };
  },
  unsigned: (partner, visit) => ({ kind: 'answer', ...unsigned(partner.handle(visit)) }),
  forged: (partner, visit) => {
    const answer = unsigned(partner.handle(visit));
    const signature = signatureOf(visit, answer.body, OTHER_SECRET);
    const headers = { ...answer.headers, 'x-api-signature': signature };
    return { kind: 'answer', ...answer, headers };
  },
  'not JSON': (partner, visit) => {
    const { body, ...answer } = unsigned(partner.handle(visit));
    const cut = body.slice(0, -1);
    const signature = signatureOf(visit, cut, partner.secret);
    const headers = { ...answer.headers, 'x-api-signature': signature };
    return { kind: 'answer', ...answer, body: cut, headers };
  },
  'success is no boolean': (partner, visit) =>
    partner.signed(visit, { ...partner.handle(visit), success: partner.pick(['true', 1, null]) }),
  'bad transaction id': (partner, visit) => {
    const answer = partner.handle(visit);
    const partnerTransactionId = partner.pick(['', 'x'.repeat(256), 17, null]);
    return partner.signed(visit, answer.success ? { ...answer, partnerTransactionId } : answer);
  },
  'server error after': (partner, visit) =>
    partner.signed(visit, partner.handle(visit), { status: partner.pick([500, 502, 503]) }),
  'internal error after': (partner, visit) => {
    partner.handle(visit);
    return partner.signed(visit, refusal('ERR-INTERNAL'));
  },
  copied: (partner, visit) => {
    const fate = partner.honest(visit);
    partner.copyLater(visit);
    return fate;
  },
  // A proxy on the way.
  'refusal invented': (partner, visit) => {
    partner.handle(visit);
    return invented(partner);
  },
  'refusal invented, call dropped': (partner) => invented(partner),
  'refusal invented, call held': (partner, visit) => {
    partner.copyLater(visit);
    return invented(partner);
  },
  'answers swapped': (partner, visit) => {
    const before = replayed(partner);
    partner.honest(visit);
    return before;
  },
  'answer replayed': (partner) => replayed(partner),
  'answer swapped for an earlier one, unsigned': (partner, visit) => {
    partner.handle(visit);
    const earlier = partner.earlier();
    if (earlier === undefined) return invented(partner);
    return { kind: 'answer', ...earlier, headers: JSON_TYPE };
  },
  'balance raised': (partner, visit) => {
    const answer = { ...partner.handle(visit), success: true, points: 1_000_000 };
    return { kind: 'answer', ...unsigned(answer) };
  },
  // Possible at one step only.
  'refuses-to-deduct': (partner, visit) => {
    const code = partner.pick(['ERR-INSUFFICIENT-POINTS', 'ERR-USER-NOT-FOUND'] as const);
    return partner.signed(visit, refusal(code), { status: partner.pick([200, 400, 404]) });
  },
  'duplicate of nothing': (partner, visit) =>
    partner.signed(visit, refusal('ERR-DUPLICATE-REQUEST'), { status: 409 }),
  'held, and told as a duplicate': (partner, visit) => {
    partner.copyLater(visit);
    return partner.signed(visit, refusal('ERR-DUPLICATE-REQUEST'), { status: 409 });
  },
  'reused-transaction-id': (partner, visit) => {
    const answer = partner.handle(visit);
    const partnerTransactionId = partner.pick(partner.knownIds.transaction);
    return partner.signed(visit, answer.success ? { ...answer, partnerTransactionId } : answer);
  },
  'reused revert id': (partner, visit) => {
    const answer = partner.handle(visit);
    const partnerRevertId = partner.knownIds.revert[0] ?? answer['partnerTransactionId'];
    return partner.signed(visit, answer.success ? { ...answer, partnerRevertId } : answer);
  },
  'not-found-for-now': (partner, visit) =>
    partner.signed(visit, refusal('ERR-TRANSACTION-NOT-FOUND')),
  'amount-disputed': (partner, visit) => partner.signed(visit, refusal('ERR-INVALID-AMOUNT')),
} as const satisfies Record<string, (partner: SimulatedPartner, visit: Visit) => CallFate>;
export type FaultName = keyof typeof FATES;

const SPECIAL: readonly FaultName[] = [
  ...(['refuses-to-deduct', 'duplicate of nothing', 'reused-transaction-id'] as const),
  'held, and told as a duplicate',
  ...(['reused revert id', 'not-found-for-now', 'amount-disputed', 'balance raised'] as const),
];
const COMMON = (Object.keys(FATES) as FaultName[]).filter((name) => !SPECIAL.includes(name));

const FAULTS: Readonly<Record<BookRequest['step'], readonly FaultName[]>> = {
  // Most ways of the rules exist for calls that arrive late.
  deduct: [
    ...COMMON,
    ...(['refuses-to-deduct', 'duplicate of nothing', 'reused-transaction-id'] as const),
    ...(['held', 'held, and told as a duplicate', 'answer lost', 'answer lost'] as const),
  ],
  revert: [...COMMON, 'reused revert id', 'not-found-for-now', 'amount-disputed'],
  // `success: true` with 200, or an unsigned ERR-DUPLICATE-REQUEST, is enough for a confirmation: a proxy could withhold
  // it for ever.
  confirm: COMMON.filter((name) => !/from nowhere|swapped|replayed|invented, call/.test(name)),
};

const BALANCE_FAULTS: FaultName[] = [
  ...(['lost', 'reset at once', 'bad gateway', 'refusal invented', 'balance raised'] as const),
  ...(['answer replayed', 'forged', 'unsigned'] as const),
];
