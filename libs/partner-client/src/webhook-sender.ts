/**
 * Sends an event to a subscriber once, in the form of Standard Webhooks: one request, signed with each valid secret,
 * and its result. Nothing is retried here, and no redirect is followed. Addresses are checked as for partner calls, and
 * the time and the bytes of an answer are bounded. The status decides as soon as it has arrived, whatever becomes of
 * the body.
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
  /** Timeout of the whole attempt. Standard Webhooks recommends 15 to 30 s. */
  readonly timeoutMs?: number;
}

export interface WebhookMessage {
  /** `webhook-id`, the same for each attempt. */
  readonly id: string;
  /** Kept connections serve this subscription only. */
  readonly subscription: string;
  readonly url: string;
  /** The text that is sent and signed. */
  readonly payload: string;
  /** Each as `whsec_…`; the message gets one signature per secret. */
  readonly secrets: readonly string[];
}

/** The result of one attempt; its texts are bounded and without the secrets. */
export interface WebhookAttempt {
  /** Absent where no answer came. */
  readonly status?: number;
  readonly retryAfterSeconds?: number;
  /** Why there is no answer, or no whole answer. */
  readonly error?: string;
  /** True where our side ended the attempt before an answer came. */
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
