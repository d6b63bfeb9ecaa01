import { type ChainReader } from '#libs/chain';
import { type Database } from '#libs/db';
import { type Address } from '#libs/domain';

/** How hard the database and the nodes are worked. */
export interface AuditPace {
  /** Of 100 wallets each. */
  readonly batchesAtOnce: number;
  /** Between two looks at the nodes or the database. */
  readonly pauseMs: number;
}

export interface AuditParts {
  readonly database: Database;
  readonly reader: Pick<ChainReader, 'stakeBalances' | 'stakeTotal' | 'headers' | 'endpoints'>;
  readonly block: bigint | 'finalised';
  /** How many wallets are drawn at random. */
  readonly sample: number | 'all';
  /** Compared in any case. */
  readonly always?: readonly Address[];
  readonly pace: AuditPace;
  readonly sleep: (ms: number) => Promise<unknown>;
  readonly onProgress: (said: string) => void;
  /** Ends the audit between two questions, with its reason. */
  readonly signal?: AbortSignal;
}
