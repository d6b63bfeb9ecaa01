/** The way of calls from a process to the partners, in the place of the network. */
import {
  type Arrived,
  type ConnectionSource,
  type Destination,
  DialFault,
  ExchangeFault,
  type ExchangeLimits,
  type OpenConnection,
  type WireRequest,
} from '#libs/partner-client';
import { type Scheduler } from '../kernel/index.js';
import { type CallFate, type SimulatedPartner, type Visit } from './partner.js';

export interface WireWatch {
  /** A process gives the first byte of a call to the network. @returns called when the process has its answer */
  sent(partner: SimulatedPartner, visit: Visit): () => void;
}

const UNREACHABLE_PER_MILLE = 40;
/** Just within the deadlines of a call. */
const SLOW_READ_MS = 9_500;
const SLOW_WRITE_MS = 14_800;

export class SimulatedWire implements ConnectionSource {
  /** By origin. */
  private readonly partners: ReadonlyMap<string, SimulatedPartner>;

  constructor(
    private readonly scheduler: Scheduler,
    partners: ReadonlyMap<string, SimulatedPartner>,
    private readonly watch: WireWatch,
  ) {
    this.partners = new Map([...partners.values()].map((partner) => [partner.url, partner]));
  }

  async use<T>(
    { url, dialled }: Destination,
    signal: AbortSignal,
    send: (connection: OpenConnection) => Promise<T>,
  ): Promise<T> {
    const partner = this.partners.get(url.origin);
    if (partner === undefined) throw new Error(`there is no partner at ${url.origin}`);
    dialled.phase = 'connect';
    if (!partner.behaves) await this.connect(partner, signal);
    return send({
      exchange: (request, limits, arrived) => this.exchange(partner, request, limits, arrived),
      destroy: () => undefined,
    });
  }

  keep(): void {
    // Each call has a connection of its own.
  }

  private connect({ plan }: SimulatedPartner, signal: AbortSignal): Promise<void> {
    const name = `connects to ${plan.name}`;
    return this.scheduler
      .call({
        name,
        signal,
        ends: [
          { name: 'done', weight: 1000 - UNREACHABLE_PER_MILLE, run: done },
          {
            name: 'refused',
            weight: UNREACHABLE_PER_MILLE,
            run: refuse,
          },
        ],
      })
      .catch((error: unknown) => {
        if (error instanceof DialFault) throw error;
        throw new DialFault('connect-timeout', 'connect', 'timed out');
      });
  }

  private async exchange(
    partner: SimulatedPartner,
    request: WireRequest,
    { signal }: ExchangeLimits,
    arrived: Arrived,
  ): Promise<number> {
    const visit = partner.visitOf(request);
    const answered = this.watch.sent(partner, visit);
    const name = `${partner.plan.name} ${nameOf(visit)}`;
    try {
      const fate = await this.arrive(partner, visit, name, signal);
      if (fate.kind === 'silence') throw await aborted(signal);
      if (fate.kind === 'reset') throw new ExchangeFault('reset', 'the connection was lost');
      if (fate.kind === 'half') {
        Object.assign(arrived, { phase: 'body', status: 200, headAt: performance.now() });
        throw new ExchangeFault('half-answer', 'the connection was lost');
      }
      const slowMs = visit.call === undefined ? SLOW_READ_MS : SLOW_WRITE_MS;
      await this.answer(partner, { name, slowMs, signal });
      const { status, headers, body } = fate;
      Object.assign(arrived, { phase: 'done', status, headers, headAt: performance.now() });
      arrived.chunks.push(Buffer.from(body));
      arrived.bytes = Buffer.byteLength(body);
      return status;
    } catch (error) {
      if (error instanceof ExchangeFault) throw error;
      throw new ExchangeFault('timeout', (error as Error).message);
    } finally {
      answered();
    }
  }

  /** The call arrives at the partner or at the proxy before it, also after the death of its process. */
  private arrive(
    partner: SimulatedPartner,
    visit: Visit,
    name: string,
    signal: AbortSignal,
  ): Promise<CallFate> {
    const [honest, ...faults] = partner.endsOf(visit).map(({ fate, ...end }) => ({
      ...end,
      run: () => fate(visit),
    }));
    if (honest === undefined) throw new Error('no end');
    return this.scheduler.call({ name, signal, outlivesProcess: true, ends: [honest, ...faults] });
  }

  private async answer(
    { plan, isHealed }: SimulatedPartner,
    { name, slowMs, signal }: { name: string; slowMs: number; signal: AbortSignal },
  ): Promise<void> {
    if (plan.isSlow && !isHealed) await pause(slowMs, signal);
    await this.scheduler.call({
      name: `${name} answer`,
      signal,
      ends: [{ name: 'arrives', weight: 1, run: done }],
    });
  }
}

function done(): void {
  // Nothing but time has passed.
}

function refuse(): never {
  throw new DialFault('connection-refused', 'connect', 'refused');
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

function nameOf({ call, address }: Visit): string {
  return call === undefined
    ? `balance ${address.slice(-4)}`
    : `${call.step} ${call.body.svcRedemptionId.slice(-4)}`;
}

function aborted(signal: AbortSignal): Promise<Error> {
  return new Promise((resolve) => {
    const end = (): void => {
      resolve(signal.reason as Error);
    };
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}
