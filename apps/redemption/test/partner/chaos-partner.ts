/** A simulated partner: honest books behind a front end that misbehaves for a time, or for ever. */
import { type Socket } from 'node:net';
import { canonicalJson, type PartnerCapability } from '#libs/domain';
import { type Dice } from '../world/dice.js';
import { type BookRequest, PartnerBooks, type PartnerNature } from './partner-books.js';
import {
  answerBytes,
  type AnswerFields,
  type SeenRequest,
  sendRefusal,
  signatureOf,
} from './seen-request.js';
import {
  BALANCE_FAULTS,
  type BalanceFaultName,
  DEAF_FAULTS,
  type FaultName,
  FAULTS,
  misbehave,
  sendSigned,
  type Visit,
} from './wire-faults.js';

export interface Temper {
  /** Probability of a fault in each call. */
  readonly faultRate: number;
  /** Number of faults after which the partner behaves. */
  readonly faultsUntilHealed: number;
  /** True where only faults happen that its books do not hear of. */
  readonly deaf: boolean;
  /** Faults of every deduction, so that only the ways of rule E are left. */
  readonly deductions?: readonly FaultName[];
}

/** What a partner saw of a call, for the redemption's story. */
export interface PartnerLogEntry {
  readonly atMs: number;
  readonly step: string;
  readonly redemptionId: string;
  readonly requestId: string;
  readonly what: string;
  /** How a revert named the deduction. */
  readonly named?: string;
}

export interface LateCall {
  readonly partner: ChaosPartner;
  readonly atMs: number;
  readonly call: BookRequest;
  readonly requestId: string;
}

export interface Surroundings {
  nowMs(): number;
  later(call: LateCall): void;
  stalled(socket: Socket): void;
  /** A call has arrived: a worker may be killed in the middle of it. */
  arrived(): void;
}

const DELAYS_MS = [
  1000, 60_000, 150_000, 240_000, 290_000, 310_000, 1_800_000, 3_600_000, 20_000_000,
];
const STEPS = new Map<string, BookRequest['step']>([
  ['/deduct-points-by-address', 'deduct'],
  ['/revert-deduct-points', 'revert'],
  ['/confirm-redemption', 'confirm'],
]);

export class ChaosPartner {
  readonly books: PartnerBooks;
  readonly log: PartnerLogEntry[] = [];
  /** Requests that no partner should get. */
  readonly oddities: string[] = [];
  /** Bodies of all confirmations that arrived, whatever the answer, by redemption id. */
  readonly confirmations = new Map<string, string[]>();
  readonly requestIds = new Set<string>();
  readonly deliveredTransactionIds = new Set<string>();
  readonly deliveredRevertIds = new Set<string>();
  /** Step of which no call reaches the books, until it is changed. */
  deafTo: BookRequest['step'] | undefined;
  private faults = 0;
  private healed = false;
  private readonly hadFaults = new Set<BookRequest['step']>();
  private readonly visits = new Map<string, number>();
  private readonly ordinals = new Map<string, number>();
  private lastAnswer: AnswerFields | undefined;
  private lastBalance: AnswerFields | undefined;
  private balanceReads = 0;

  constructor(
    readonly name: string,
    private readonly setup: {
      readonly nature: PartnerNature;
      readonly recorded: readonly PartnerCapability[];
      readonly confirms: boolean;
      readonly temper: Temper;
      /** The first fault at each step, so that no fault of the table is left out. */
      readonly firstFaults: Readonly<Record<BookRequest['step'], FaultName>>;
      readonly dice: Dice;
      readonly around: Surroundings;
    },
  ) {
    this.books = new PartnerBooks(name, setup.nature);
  }

  get apiKey(): string {
    return `key-of-${this.name}`;
  }

  get secret(): string {
    return `secret-of-${this.name}`;
  }

  get recorded(): readonly PartnerCapability[] {
    return this.setup.recorded;
  }

  get confirms(): boolean {
    return this.setup.confirms;
  }

  get behaves(): boolean {
    return this.healed || this.faults >= this.setup.temper.faultsUntilHealed;
  }

  heal(): void {
    this.healed = true;
  }

  /** Takes a copy of a call that was delayed in the network. */
  receiveLate({ call, requestId, atMs }: LateCall): void {
    const { success } = this.books.handle(call, requestId, atMs);
    this.note(call, requestId, `a late copy: ${success ? 'done' : 'refused'}`);
  }

  /** @param route the path after the partner's base URL */
  receive(socket: Socket, request: SeenRequest, route: string): void {
    const { around } = this.setup;
    const requestId = request.header('x-api-request') ?? '';
    if (request.method === 'GET' && route === '/get-points-by-address') {
      around.arrived();
      this.sendBalance(socket, request);
      return;
    }
    const call = this.read(request, route);
    if (call === undefined) {
      socket.end(sendRefusal(404));
      return;
    }
    if (call.step === 'confirm') this.keepConfirmation(call.body.svcRedemptionId, request.body);
    around.arrived();
    const visit = this.visitOf({ socket, request, call, requestId });
    const fault = this.faultFor(call, visit.dice);
    if (fault === undefined) {
      const answer = visit.handle();
      this.note(call, requestId, answer.success ? 'done' : String(answer['errorCode']));
      if (answer.success || this.setup.nature.signsRefusals) sendSigned(visit, answer);
      else socket.end(answerBytes({ status: 422, body: canonicalJson(answer) }));
    } else {
      this.faults++;
      this.note(call, requestId, fault);
      misbehave(fault, visit);
    }
  }

  /** A balance has no redemption yet, so the log of calls names the wallet. */
  private sendBalance(socket: Socket, request: SeenRequest): void {
    const { dice, around, temper } = this.setup;
    const ownDice = dice.for(`balance/${this.balanceReads++}`);
    const address = request.query.get('address') ?? '';
    const answer = this.books.balanceOf(address);
    const body = canonicalJson(answer);
    const honest = { body, signature: signatureOf(request, body, this.secret) };
    const visit = {
      socket,
      dice: ownDice,
      bystanderId: `${this.name}-tx-bystander`,
      earlierAnswer: this.lastBalance,
    };
    this.lastBalance = honest;
    if (this.behaves || !ownDice.chance(temper.faultRate / 2)) {
      socket.end(answerBytes(honest));
      return;
    }
    const fault = ownDice.pick(Object.keys(BALANCE_FAULTS) as BalanceFaultName[]);
    this.log.push({
      atMs: around.nowMs(),
      step: 'balance',
      redemptionId: address,
      requestId: request.header('x-api-request') ?? '',
      what: fault,
    });
    BALANCE_FAULTS[fault](visit, answer);
  }

  private read(request: SeenRequest, route: string): BookRequest | undefined {
    const step = STEPS.get(route);
    const requestId = request.header('x-api-request') ?? '';
    if (step === undefined || request.method !== 'POST') {
      this.oddities.push(`${request.method} ${request.path}`);
      return undefined;
    }
    if (
      request.header('x-api-key') !== this.apiKey ||
      request.header('x-api-signature') !== signatureOf(request, request.body, this.secret)
    ) {
      this.oddities.push(`${requestId} is not signed for ${this.name}`);
    }
    // Rule C: each attempt has an id of its own. The wire carries no copies of ours.
    if (this.requestIds.has(requestId)) this.oddities.push(`${requestId} was sent twice`);
    this.requestIds.add(requestId);
    return { step, body: JSON.parse(request.body) };
  }

  private visitOf(of: {
    readonly socket: Socket;
    readonly request: SeenRequest;
    readonly call: BookRequest;
    readonly requestId: string;
  }): Visit {
    const { socket, request, call, requestId } = of;
    const { dice, around } = this.setup;
    const redemptionId = call.body.svcRedemptionId;
    const place = `${redemptionId}/${call.step}`;
    const visit = this.visits.get(place) ?? 0;
    this.visits.set(place, visit + 1);
    const ownDice = dice.for(`${this.ordinalOf(redemptionId)}/${call.step}/${visit}`);
    return {
      socket,
      request,
      call,
      secret: this.secret,
      dice: ownDice,
      knownTransactionIds: [...this.deliveredTransactionIds],
      knownRevertIds: [...this.deliveredRevertIds],
      bystanderId: `${this.name}-tx-bystander`,
      earlierAnswer: this.lastAnswer,
      keepAnswer: (answer) => {
        this.lastAnswer = answer;
      },
      handle: () => this.books.handle(call, requestId, around.nowMs()),
      copyLater: () => {
        const atMs = around.nowMs() + ownDice.pick(DELAYS_MS);
        around.later({ partner: this, atMs, call, requestId });
      },
      stall: () => {
        around.stalled(socket);
      },
    };
  }

  /**
   * Number of the redemption in order of first appearance: two runs of one seed have different ids, but mostly the same
   * order.
   */
  private ordinalOf(redemptionId: string): number {
    const ordinal = this.ordinals.get(redemptionId) ?? this.ordinals.size;
    this.ordinals.set(redemptionId, ordinal);
    return ordinal;
  }

  private faultFor(call: BookRequest, dice: Dice): FaultName | undefined {
    const { temper, firstFaults } = this.setup;
    if (this.healed) return undefined;
    if (call.step === this.deafTo) return dice.pick(DEAF_FAULTS);
    if (call.step === 'deduct' && temper.deductions) return dice.pick(temper.deductions);
    if (this.behaves || !dice.chance(temper.faultRate)) return undefined;
    if (temper.deaf) return dice.pick(DEAF_FAULTS);
    const { step } = call;
    const fault = this.hadFaults.has(step) ? dice.pick(FAULTS[step]) : firstFaults[step];
    if (!this.isHonest(fault, call)) return undefined;
    this.hadFaults.add(step);
    return fault;
  }

  /**
   * Whether the fault leaves the books honest. Dishonest books would be fraud, which only a budget bounds, and not a
   * fault of the table.
   */
  private isHonest(fault: FaultName, call: BookRequest): boolean {
    const { svcRedemptionId: id } = call.body;
    if (fault === 'refuses-to-deduct') return this.books.of(id).length === 0;
    if (fault === 'reused-transaction-id') return this.deliveredTransactionIds.size > 0;
    if (fault === 'amount-disputed') return this.books.standing(id) !== undefined;
    if (fault !== 'not-found-for-now') return true;
    // A partner may fail to find a deduction that it confirmed. Of a deduction that it never confirmed, its answer is
    // proof.
    const names = call.step === 'revert' && call.body.partnerTransactionId !== undefined;
    return names && this.books.standing(id) !== undefined;
  }

  private keepConfirmation(redemptionId: string, body: string): void {
    const bodies = this.confirmations.get(redemptionId) ?? [];
    bodies.push(body);
    this.confirmations.set(redemptionId, bodies);
  }

  private note({ step, body }: BookRequest, requestId: string, what: string): void {
    const atMs = this.setup.around.nowMs();
    const redemptionId = body.svcRedemptionId;
    const named = 'revertReason' in body ? (body.partnerTransactionId ?? 'the redemption') : '';
    const { log } = this;
    log.push({ atMs, step, redemptionId, requestId, what, ...(named !== '' && { named }) });
  }
}
