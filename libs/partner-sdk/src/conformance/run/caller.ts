/** Makes signed calls, a few at once, and records each call with its answer. */
import { type LookupFunction } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock } from '../../clock.js';
import {
  type CallPlan,
  type Exchange,
  prepareCall,
  type Step,
  type Target,
} from '../wire/exchange.js';
import { judge } from '../wire/judge.js';
import { transport } from '../wire/transport.js';
import { newRequestId } from '../../request-id.js';

interface CallerOptions {
  readonly target: Target;
  readonly clock: Clock;
  /** Milliseconds; default: the service's timeout of each step. */
  readonly timeoutMs?: number;
  readonly lookup?: LookupFunction | undefined;
}

/** The service's timeouts in milliseconds; a read has the shorter one. */
const READ_TIMEOUT_MS = 10_000;
const WRITE_TIMEOUT_MS = 15_000;
const AT_ONCE = 10;
/** Number of calls without an answer after which the run stops. */
const MAX_TIMEOUTS = 3;
/** Greatest number of repetitions of a call that gets status 429. */
const MAX_AGAIN = 3;
const PAUSE_MS = 1000;
const MAX_PAUSE_MS = 5000;

/** A call whose id may be absent: the caller then makes a new id. */
export type Plan = Omit<CallPlan, 'requestId'> & { readonly requestId?: string };

export class Caller {
  readonly exchanges: Exchange[] = [];
  /** Number of all calls, including forgotten ones. */
  calls = 0;
  /** Exchanges with status 429: their calls were repeated, and no audit judges them. */
  readonly limited: Exchange[] = [];
  private underWay = 0;
  private readonly waiting: (() => void)[] = [];
  private timeouts = 0;
  private stopReason: string | undefined;

  constructor(private readonly options: CallerOptions) {}

  get target(): Target {
    return this.options.target;
  }

  nowMs(): number {
    return this.options.clock.nowMs();
  }

  /** Why the run is over; undefined while it goes on. */
  get stopped(): string | undefined {
    return this.stopReason;
  }

  /** From now on only calls that give points back are made; calls in progress go on. */
  stop(reason: string): void {
    this.stopReason ??= reason;
  }

  /** Removes an exchange from the exchanges that the audits judge. */
  forget(exchange: Exchange): void {
    this.exchanges.splice(this.exchanges.indexOf(exchange), 1);
  }

  /** @throws RunStopped */
  async call(purpose: string, plan: Plan, { isUndo = false } = {}): Promise<Exchange> {
    await this.enter();
    try {
      if (this.stopReason !== undefined && !isUndo) throw new RunStopped(this.stopReason);
      this.calls++;
      const exchange = await this.callWithRetry(purpose, plan);
      this.exchanges.push(exchange);
      this.watch(exchange);
      return exchange;
    } finally {
      this.leave();
    }
  }

  /** Repeats a call after a pause where the partner limits the rate, as the service does. */
  private async callWithRetry(purpose: string, plan: Plan): Promise<Exchange> {
    let exchange = await this.exchange(purpose, plan);
    for (let again = 0; again < MAX_AGAIN && isLimited(exchange); again++) {
      this.limited.push(exchange);
      await sleep(pauseMs(exchange));
      exchange = await this.exchange(purpose, plan);
    }
    return exchange;
  }

  private watch({ came }: Exchange): void {
    if (came.kind === 'answer' || !['timeout', 'not-sent'].includes(came.fault)) return;
    this.timeouts++;
    if (this.timeouts >= MAX_TIMEOUTS) this.stop('The partner did not answer three times.');
  }

  private async exchange(purpose: string, plan: Plan): Promise<Exchange> {
    const { target, lookup } = this.options;
    const requestId = plan.requestId ?? newRequestId(this.nowMs());
    const sent = prepareCall(target, { ...plan, requestId });
    const timeoutMs = this.timeoutFor(plan.step);
    const came = await transport(target.baseUrl, sent, { timeoutMs, agent: plan.agent, lookup });
    const call = { step: plan.step, sent, came };
    return { ...call, purpose, ...judge(call, target) };
  }

  private timeoutFor(step: Step): number {
    return this.options.timeoutMs ?? (step === 'balance' ? READ_TIMEOUT_MS : WRITE_TIMEOUT_MS);
  }

  private async enter(): Promise<void> {
    if (this.underWay < AT_ONCE) {
      this.underWay++;
      return;
    }
    // A call that ends passes its place to the first one that waits.
    await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  private leave(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.underWay--;
    else next();
  }
}

function isLimited({ came }: Exchange): boolean {
  return came.kind === 'answer' && came.status === 429;
}

/** Pause in milliseconds: `Retry-After`, but 5 s at most. */
function pauseMs({ came }: Exchange): number {
  const text = came.kind === 'answer' ? came.headers['retry-after'] : undefined;
  const seconds = Number(text ?? '');
  if (text === undefined || !(seconds >= 0)) return PAUSE_MS;
  return Math.min(seconds * 1000, MAX_PAUSE_MS);
}

/** The story cannot go on because of a fault that another check reports. */
export class StoryBlocked extends Error {
  override readonly name = 'Blocked';
}

/** The run is over, so no new call is made. */
export class RunStopped extends Error {
  override readonly name = 'RunStopped';
}
