import { type Clock, type Logger } from '#libs/platform';

/** Failures in a row with which an endpoint's trouble begins, and good answers in a row with which it ends. */
const BEGINS_WITH = 3;
const ENDS_WITH = 10;
/** The first good answer so long after the last failure ends it too. */
const QUIET_MS = 10_000;
const A_LINE_EVERY_MS = 60_000;

export interface RpcFailure {
  readonly outcome: string;
  readonly httpStatus?: number | undefined;
  readonly reason?: string | undefined;
}

interface Trouble {
  failuresInARow: number;
  successesInARow: number;
  /** Since the last line. */
  failures: number;
  lastFailureMs: number;
  lastLineMs: number;
  isIn: boolean;
  isSaid: boolean;
}

/** Logs that an endpoint is in trouble: once a minute while it is, however often it fails, and once when it is well again. */
export class RpcTrouble {
  private readonly endpoints = new Map<string, Trouble>();

  constructor(
    private readonly logger: Logger,
    private readonly clock: Clock,
  ) {}

  failed(endpoint: string, failure: RpcFailure): void {
    const trouble = this.of(endpoint);
    trouble.failures++;
    trouble.failuresInARow++;
    trouble.successesInARow = 0;
    trouble.lastFailureMs = this.clock.nowMs();
    trouble.isIn ||= trouble.failuresInARow >= BEGINS_WITH;
    if (trouble.isIn) this.say(endpoint, failure, 'An RPC endpoint fails');
  }

  waiting(endpoint: string, message: string, forMs: number): void {
    this.of(endpoint).isIn = true;
    const waitingSeconds = Math.round(forMs / 1000);
    this.say(endpoint, { waitingSeconds }, `Waiting for an RPC endpoint: ${message}`);
  }

  succeeded(endpoint: string): void {
    const trouble = this.endpoints.get(endpoint);
    if (!trouble) return;
    trouble.failuresInARow = 0;
    trouble.successesInARow++;
    if (!trouble.isIn) return;
    const isQuiet = this.clock.nowMs() - trouble.lastFailureMs >= QUIET_MS;
    if (trouble.successesInARow < ENDS_WITH && !isQuiet) return;
    if (trouble.isSaid) this.logger.info({ endpoint }, 'The RPC endpoint is well again');
    trouble.isIn = false;
    trouble.isSaid = false;
    trouble.failures = 0;
  }

  private say(endpoint: string, fields: object, message: string): void {
    const trouble = this.of(endpoint);
    const nowMs = this.clock.nowMs();
    if (nowMs - trouble.lastLineMs < A_LINE_EVERY_MS) return;
    this.logger.warn({ endpoint, failures: trouble.failures, ...fields }, message);
    trouble.lastLineMs = nowMs;
    trouble.failures = 0;
    trouble.isSaid = true;
  }

  private of(endpoint: string): Trouble {
    const known = this.endpoints.get(endpoint);
    if (known) return known;
    const trouble = {
      failuresInARow: 0,
      successesInARow: 0,
      failures: 0,
      lastFailureMs: -Infinity,
      lastLineMs: -Infinity,
      isIn: false,
      isSaid: false,
    };
    this.endpoints.set(endpoint, trouble);
    return trouble;
  }
}
