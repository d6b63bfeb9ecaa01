/**
 * Sends an event to a subscriber once, in the form of Standard Webhooks: one request, signed with each secret that is good, and what came of
 * it. Nothing is sent again here and no redirect is followed. The addresses are checked as for callbacks, the time and what is read of an
 * answer are bounded; the status decides as soon as it is there, whatever the body turns out to be.
 */
import { Webhook } from 'standardwebhooks';
import { type Clock } from '#libs/platform';
import { parsePartnerUrl, withoutSecrets } from './partner-endpoint.js';
import { errorText, excerptOf, keptHeaders, type Redactor } from './record-texts.js';
import { retryAfterSeconds } from './verify-answer.js';
import { callDeadline, DialFault, ExchangeFault } from './wire/call-fault.js';
import { type DialOptions } from './wire/dial.js';
import {
  type Arrived,
  exchange,
  idleMs,
  nothingArrived,
  type WireRequest,
} from './wire/exchange.js';
import { KeptConnections } from './wire/kept-connections.js';

export interface WebhookSenderOptions extends DialOptions {
  readonly clock: Clock;
  /** For the whole attempt. Standard Webhooks recommends 15 to 30 s. */
  readonly timeoutMs?: number;
}

export interface WebhookMessage {
  /** `webhook-id`, the same at each attempt. */
  readonly id: string;
  /** Connections are kept for the subscription, and serve no other one. */
  readonly subscription: string;
  readonly url: string;
  /** The bytes that are sent and signed. */
  readonly payload: string;
  /** `whsec_…`; one signature for each. */
  readonly secrets: readonly string[];
}

/** Bounded, and without the secrets. */
export interface WebhookAttempt {
  /** Absent where no answer came. */
  readonly status?: number;
  readonly retryAfterSeconds?: number;
  /** Why there is no answer, or no whole one. */
  readonly error?: string;
  /** It was ended from our side before an answer came. */
  readonly isStopped: boolean;
  readonly durationMs: number;
  readonly request: { readonly headers: Readonly<Record<string, string>> };
  readonly answer: { readonly headers?: Readonly<Record<string, string>>; readonly body?: string };
}

const TIMEOUT_MS = 15_000;
const CONNECT_MS = 5_000;
const MAX_BODY_BYTES = 16_384;

export class WebhookSender {
  private readonly connections: KeptConnections;

  constructor(private readonly options: WebhookSenderOptions) {
    this.connections = new KeptConnections({ ...options, connectMs: CONNECT_MS });
  }

  async send(message: WebhookMessage, stop?: AbortSignal): Promise<WebhookAttempt> {
    const { clock, policy, timeoutMs = TIMEOUT_MS } = this.options;
    const startedAt = performance.now();
    const redactor = { redact: (text: string) => withoutSecrets(text, message.secrets) };
    const arrived = nothingArrived();
    const request = requestOf(message, clock.nowMs());
    const ended = (error?: unknown): WebhookAttempt => ({
      ...attemptOf(arrived, { error, redactor, nowMs: clock.nowMs() }),
      durationMs: Math.round(performance.now() - startedAt),
      request: { headers: request.headers },
    });
    const parsed = parsePartnerUrl(message.url, policy);
    if (!parsed.ok) return ended(new DialFault(parsed.fault, 'address', parsed.message));
    const whole = callDeadline(timeoutMs, stop);
    const key = `${message.subscription} ${parsed.url.origin}`;
    try {
      const to = { key, url: parsed.url, dialled: { phase: 'address' as const } };
      await this.connections.use(to, whole.signal, async (connection) => {
        const limits = { maxBodyBytes: MAX_BODY_BYTES, signal: whole.signal };
        await exchange(connection, request, limits, arrived);
        this.connections.keep(key, connection, idleMs(arrived.headers['keep-alive']));
      });
      return ended();
    } catch (error) {
      if (error instanceof DialFault || error instanceof ExchangeFault) return ended(error);
      throw error;
    } finally {
      whole.end();
    }
  }
}

function requestOf({ id, url, payload, secrets }: WebhookMessage, nowMs: number): WireRequest {
  const at = new Date(nowMs);
  const signatures = secrets.map((secret) => new Webhook(secret).sign(id, at, payload));
  const headers = {
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'Lowmark-Webhooks',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(nowMs / 1000)),
    'webhook-signature': signatures.join(' '),
  };
  const target = URL.canParse(url) ? new URL(url).pathname : '/';
  return { identity: { method: 'POST' }, target, headers, body: payload };
}

function attemptOf(
  { status, headers, chunks }: Arrived,
  {
    error,
    redactor,
    nowMs,
  }: { readonly error: unknown; readonly redactor: Redactor; readonly nowMs: number },
): Pick<WebhookAttempt, 'status' | 'retryAfterSeconds' | 'error' | 'isStopped' | 'answer'> {
  const wait = retryAfterSeconds(headers['retry-after'], nowMs);
  const fault = error instanceof DialFault || error instanceof ExchangeFault ? error : undefined;
  const hasAnswer = status !== undefined;
  return {
    ...(hasAnswer && { status }),
    ...(wait !== undefined && { retryAfterSeconds: wait }),
    ...(fault !== undefined && {
      error: errorText(`${fault.failure}: ${fault.message}`, redactor),
    }),
    isStopped: !hasAnswer && fault?.failure === 'aborted',
    answer: hasAnswer
      ? {
          headers: keptHeaders(headers, redactor),
          body: excerptOf(Buffer.concat(chunks), redactor),
        }
      : {},
  };
}
