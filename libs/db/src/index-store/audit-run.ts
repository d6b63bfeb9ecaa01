import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { type Address, type BlockHash } from '#libs/domain';
import { BIGINT, COUNT, HEX } from '../connection/columns.js';

/** A wallet whose balance differs between index and contract, both in the token's smallest unit. */
export interface AuditDifference {
  readonly wallet: Address;
  readonly indexed: bigint;
  readonly contract: bigint;
}

/** In the token's smallest unit. All three are equal in a sound index. */
export interface SumsOfIndex {
  /** The stored total, at the head. */
  readonly stored: bigint;
  /** The newest closings of all wallets (staking.balance_day), added up. */
  readonly closings: bigint;
  /** The newest balances of all wallets (staking.balance_change), added up. */
  readonly balances: bigint;
}

/** Result of a comparison of the index with the contract at one block. */
interface AuditFindings {
  readonly result: 'ok' | 'different';
  readonly blockNumber: bigint;
  readonly blockHash: BlockHash;
  /** Number of wallets in the index. */
  readonly wallets: number;
  /** Number of compared wallets. Undefined where no balances can be read from the contract. */
  readonly compared: number | undefined;
  /** Number of wallets that differ. */
  readonly differences: number;
  /** The first wallets that differ. */
  readonly different: readonly AuditDifference[];
  readonly indexedTotal: bigint;
  /** Undefined where no total can be read from the contract. */
  readonly contractTotal: bigint | undefined;
  /** What the index adds up to by itself, at its head. */
  readonly sums: SumsOfIndex;
}

/** A finished audit: with findings, or with the reason why a comparison was impossible. */
export type AuditRun = { readonly startedAt: Date; readonly finishedAt: Date } & (
  AuditFindings | { readonly result: 'impossible'; readonly reason: string }
);

/** A finished audit with findings. */
export type AuditComparison = Extract<AuditRun, AuditFindings>;

/** A row with the result `impossible` has only a reason, the other rows have everything but a reason. */
@Entity({ schema: 'staking', name: 'audit_run' })
export class AuditRunEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: string;

  @Column('timestamptz')
  startedAt!: Date;

  @Column('timestamptz')
  finishedAt!: Date;

  @Column('text')
  result!: AuditRun['result'];

  @Column('text', { nullable: true })
  reason!: string | null;

  @Column('bigint', { nullable: true, transformer: BIGINT })
  blockNumber!: bigint | null;

  @Column('bytea', { nullable: true, transformer: HEX })
  blockHash!: BlockHash | null;

  @Column('bigint', { nullable: true, transformer: COUNT })
  wallets!: number | null;

  @Column('bigint', { nullable: true, transformer: COUNT })
  compared!: number | null;

  @Column('bigint', { nullable: true, transformer: COUNT })
  differences!: number | null;

  /** Amounts are decimal strings. */
  @Column('jsonb', { nullable: true })
  different!: { wallet: string; indexed: string; contract: string }[] | null;

  @Column('numeric', { precision: 90, scale: 0, nullable: true, transformer: BIGINT })
  indexedTotal!: bigint | null;

  @Column('numeric', { precision: 90, scale: 0, nullable: true, transformer: BIGINT })
  contractTotal!: bigint | null;

  @Column('numeric', { precision: 90, scale: 0, nullable: true, transformer: BIGINT })
  storedTotal!: bigint | null;

  @Column('numeric', { precision: 90, scale: 0, nullable: true, transformer: BIGINT })
  closingsTotal!: bigint | null;

  @Column('numeric', { precision: 90, scale: 0, nullable: true, transformer: BIGINT })
  balancesTotal!: bigint | null;
}
