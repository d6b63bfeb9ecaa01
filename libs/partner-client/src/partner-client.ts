/**
 * The four calls to a partner, each made exactly once: one request, one answer, one result. Nothing is retried here:
 * the redemption's retry schedule decides, and each retry is a call with an id of its own.
 *
 * A connection that brought a good answer is kept for a moment and used again. A reset of a kept connection may mean
 * that the partner closed it while idle, or that the connection broke while the partner worked on our request: the
 * outcome is unknown as on any connection, and nothing is sent again. Only where no byte of the request was given to
 * the kept connection does the call go on over a new one, which is its first sending.
 */
import { type PartnerId, type UuidV7 } from '#libs/domain';
import { type Clock, type Deadline, inSpan } from '#libs/platform';
import { type CallResult } from './call-result.js';
import { callSpan, CallTrace, endOf } from './call-trace.js';
import {
  isStale,
  newRequestId,
  parsePartnerUrl,
  type PartnerCall,
  type PartnerEndpoint,
  ROUTES,
  type SignedRequest,
  signedRequest,
} from './partner-endpoint.js';
import {
  type CallHealth,
  type CircuitState,
  type GateOptions,
  healthOf,
  PartnerGate,
} from './partner-gate.js';
import { callDeadline, DialFault, ExchangeFault } from './wire/call-fault.js';
import { type DialOptions, type PartnerUrl } from './wire/dial.js';
import { idleMs } from './wire/exchange.js';
import {
  type ConnectionSource,
  KeptConnections,
  type OpenConnection,
} from './wire/kept-connections.js';

export interface PartnerTimeouts {
  /** DNS, TCP and TLS together. */
  readonly connectMs: number;
  /** The whole call, connection and body included: a call that reads, and a call that changes something. */
  readonly readMs: number;
  readonly writeMs: number;
}

export interface PartnerClientOptions extends DialOptions {
  readonly clock: Clock;
  /** Random number from 0 to 1; default `Math.random`. */
  readonly random?: () => number;
  readonly timeouts?: Partial<PartnerTimeouts>;
  readonly maxBodyBytes?: number;
  /** Default: connections of its own over the network. */
  readonly connections?: ConnectionSource;
  /** Options of each partner's gate. */
  readonly gate?: Partial<Omit<GateOptions, 'clock' | 'random'>>;
}

export interface CallContext {
  /** Committed before the call (rule A of docs/redemption.md). Absent: minted when the call is sent. */
  readonly requestId?: UuidV7;
  /** The whole call, if shorter than the client's own limit. */
  readonly withinMs?: number;
  /** Ends the call: with `nothing-sent` while no byte has left, with `no-answer` afterwards. */
  readonly signal?: AbortSignal;
}

interface Sending {
  readonly trace: CallTrace;
  readonly url: PartnerUrl;
  readonly request: SignedRequest;
  /**
   * Key of the connections. It contains the partner, so that what one partner sends is never read as another's answer.
   */
  readonly key: string;
}

const TIMEOUTS: PartnerTimeouts = { connectMs: 3000, readMs: 10_000, writeMs: 15_000 };
const MAX_BODY_BYTES = 65_536;
/**
 * Defaults of each partner's gate. The longest wait and the longest call together are well below a worker's lease,
 * which is three times the longest call.
 */
const GATE = {
  maxAtOnce: 8,
  maxWaiting: 64,
  longestWaitMs: 5000,
  threshold: 5,
  firstOpenMs: 5000,
  longestOpenMs: 60_000,
};

export class PartnerClient {
  private readonly gates = new Map<string, PartnerGate>();
  private readonly connections: ConnectionSource;
  private readonly timeouts: PartnerTimeouts;

  constructor(private readonly options: PartnerClientOptions) {
    this.timeouts = { ...TIMEOUTS, ...options.timeouts };
    const { connectMs } = this.timeouts;
    this.connections = options.connections ?? new KeptConnections({ ...options, connectMs });
  }

  circuitOf(partnerId: PartnerId): CircuitState['kind'] {
    return this.gates.get(partnerId)?.state ?? 'closed';
  }

  /** Milliseconds for which the partner's circuit holds calls back; undefined where a call would go through. */
  heldBackMs(partnerId: PartnerId): number | undefined {
    return this.gates.get(partnerId)?.heldBackMs();
  }

  /**
   * Makes the call once.
   * @returns how it ended; whatever the partner and the network do is a result, not an error
   * @throws PermanentError NOT_JSON where the call's body has no JSON form; nothing is sent then
   */
  call(
    endpoint: PartnerEndpoint,
    call: PartnerCall,
    context: CallContext = {},
  ): Promise<CallResult> {
    return inSpan(callSpan(endpoint, call.step), async (span) => {
      const result = await this.callOnce(endpoint, call, context);
      span.note(endOf(result));
      if (result.kind !== 'answer') span.fail(result.cause);
      return result;
    });
  }

  private async callOnce(
    endpoint: PartnerEndpoint,
    call: PartnerCall,
    { requestId, withinMs = Infinity, signal }: CallContext,
  ): Promise<CallResult> {
    const trace = new CallTrace(call, endpoint, this.options.clock, requestId);
    const parsed = parsePartnerUrl(endpoint.baseUrl, this.options.policy);
    if (!parsed.ok)
      return trace.nothingSent(new DialFault(parsed.fault, 'address', parsed.message));
    trace.url = parsed.url;
    const gatePass = await this.gateOf(endpoint.partnerId).pass(signal);
    trace.passedGateAt = performance.now();
    if (!gatePass.open) {
      const { cause, waitMs } = gatePass;
      return trace.nothingSent(new DialFault(cause, 'gate', 'held back'), waitMs);
    }
    let health: CallHealth = 'neutral';
    try {
      const id = requestId ?? newRequestId(this.options.clock);
      const request = signedRequest(call, id, { endpoint, url: parsed.url });
      trace.request = request;
      const key = `${endpoint.partnerId} ${parsed.url.origin}`;
      const { readMs, writeMs } = this.timeouts;
      const longestMs = ROUTES[call.step].isRead ? readMs : writeMs;
      const whole = callDeadline(Math.min(longestMs, withinMs), signal);
      const result = await this.send({ trace, url: parsed.url, request, key }, whole);
      // With less time than usual, no answer in time says nothing about the partner.
      const isCutShort = withinMs < longestMs && result.kind === 'no-answer';
      health = isCutShort ? 'neutral' : healthOf(result);
      return result;
    } finally {
      gatePass.leave(health);
    }
  }

  private async send(sending: Sending, whole: Deadline): Promise<CallResult> {
    const { trace, url, key } = sending;
    try {
      return await this.connections.use(
        { key, url, dialled: trace.dialled },
        whole.signal,
        (connection) => this.sendOn(connection, sending, whole.signal),
      );
    } catch (error) {
      if (error instanceof DialFault) return trace.nothingSent(error);
      if (error instanceof ExchangeFault) return trace.noAnswer(error);
      throw error;
    } finally {
      whole.end();
    }
  }

  private async sendOn(
    connection: OpenConnection,
    { trace, request, key }: Sending,
    signal: AbortSignal,
  ): Promise<CallResult> {
    const { clock, maxBodyBytes = MAX_BODY_BYTES } = this.options;
    // Up to the exchange below no request exists on the wire; from then on, one may.
    requireFresh(request, clock, trace);
    const status = await connection.exchange(request, { maxBodyBytes, signal }, trace.arrived);
    const result = trace.answer(request, status);
    if (healthOf(result) === 'healthy') {
      this.connections.keep(key, connection, idleMs(trace.arrived.headers['keep-alive']));
    } else connection.destroy();
    return result;
  }

  private gateOf(partnerId: PartnerId): PartnerGate {
    let gate = this.gates.get(partnerId);
    if (!gate) {
      const { clock, random = Math.random } = this.options;
      gate = new PartnerGate({ ...GATE, ...this.options.gate, clock, random });
      this.gates.set(partnerId, gate);
    }
    return gate;
  }
}

/** @throws DialFault */
function requireFresh({ identity }: SignedRequest, clock: Clock, { dialled }: CallTrace): void {
  if (isStale(identity.requestId, clock)) {
    throw new DialFault('stale-request-id', dialled.phase, 'too long since it was minted');
  }
}
