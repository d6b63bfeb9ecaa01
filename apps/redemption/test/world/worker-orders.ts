/** What a worker process of the tests is told over its channel; nothing of it is in an argument or a variable. */
import { type Address } from '#libs/domain';

/** How events of webhooks are sent, by the clock on the wall. */
export interface WebhookTerms {
  readonly atOnce: number;
  readonly perSubscription: number;
  readonly leaseMs: number;
  readonly stepsMs: readonly number[];
}

export interface WorkerSetup {
  readonly databaseUrl: string;
  readonly secretsKey: string;
  readonly evidenceKey: string;
  /** As RPC_URLS. */
  readonly rpcUrls: readonly string[];
  readonly chainId: number;
  readonly vault: Address;
  readonly token: Address;
  readonly signerKey: string;
  readonly cancellerKey: string;
  readonly voucherTtlSeconds: number;
  /** Unix milliseconds, moved by `time` orders; absent: the clock on the wall. */
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
  /** Absent: it sends none. */
  readonly webhooks?: WebhookTerms;
}

export type WorkerOrder =
  | { readonly kind: 'start'; readonly setup: WorkerSetup }
  | { readonly kind: 'time'; readonly nowMs: number };

export type WorkerWord =
  | { readonly kind: 'ready' }
  | { readonly kind: 'time'; readonly nowMs: number }
  /** A record of its log, warnings and worse. */
  | { readonly kind: 'log'; readonly line: string };
