/** Messages between a test and its worker processes. Nothing of them is in an argument or an environment variable. */
import { type Address } from '#libs/domain';

/** How webhook events are sent; the times are real. */
export interface WebhookTerms {
  readonly atOnce: number;
  readonly perSubscription: number;
  readonly perPartner: number;
  readonly leaseMs: number;
  readonly stepsMs: readonly number[];
}

export interface WorkerSetup {
  readonly databaseUrl: string;
  readonly secretsKey: string;
  readonly evidenceKey: string;
  /** Like RPC_URLS. */
  readonly rpcUrls: readonly string[];
  readonly chainId: number;
  readonly vault: Address;
  readonly token: Address;
  readonly signerKey: string;
  readonly cancellerKey: string;
  readonly voucherTtlSeconds: number;
  /** Unix time in milliseconds, changed by `time` orders; absent: the system clock. */
  readonly nowMs?: number;
  readonly seed: string;
  readonly poolSize: number;
  readonly timeouts: {
    readonly connectMs: number;
    readonly readMs: number;
    readonly writeMs: number;
  };
  readonly gate?: { readonly maxAtOnce: number; readonly maxWaiting: number };
  readonly engine: {
    readonly atOnce: number;
    readonly leaseMs: number;
    readonly pollMs: number;
    readonly payoutPollMs: number;
    readonly listens: boolean;
    /** Whole tokens, as a decimal's text; absent: not limited. */
    readonly walletDailyTokens?: string;
  };
  /** Absent: the worker sends no webhooks. */
  readonly webhooks?: WebhookTerms;
}

export type WorkerOrder =
  | { readonly kind: 'start'; readonly setup: WorkerSetup }
  | { readonly kind: 'time'; readonly nowMs: number };

export type WorkerWord =
  | { readonly kind: 'ready' }
  | { readonly kind: 'time'; readonly nowMs: number }
  /** A log record, of level warning or above. */
  | { readonly kind: 'log'; readonly line: string };
