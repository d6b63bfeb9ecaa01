import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { type Address, type BlockHash } from '#libs/domain';
import { BIGINT, COUNT, HEX } from '../connection/columns.js';

/** A wallet whose balance in the index is not what the contract says; both in the token's smallest unit. */
export interface AuditDifference {
  readonly wallet: Address;
  readonly indexed: bigint;
  readonly contract: bigint;
}

/** What a comparison of the index with the contract found, at one block. */
interface AuditFindings {
  readonly result: 'ok' | 'different';
  readonly blockNumber: bigint;
  readonly blockHash: BlockHash;
  /** Of the index. */
  readonly wallets: number;
  /** Undefined where the contract tells no balances. */
  readonly compared: number | undefined;
  /** How many wallets differ. */
  readonly differences: number;
  /** The first of them. */
  readonly different: readonly AuditDifference[];
  readonly indexedTotal: bigint;
  /** Undefined where the contract tells no total. */
  readonly contractTotal: bigint | undefined;
}

/** One audit that ended: with findings, or without because it could not be made. */
export type AuditRun = { readonly startedAt: Date; readonly finishedAt: Date } & (
  AuditFindings | { readonly result: 'impossible'; readonly reason: string }
);

/** One that compared. */
export type AuditComparison = Extract<AuditRun, AuditFindings>;

/** Of a run that was impossible only the reason is there, of the others all but that. */
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

  /** Amounts are strings. */
  @Column('jsonb', { nullable: true })
  different!: { wallet: string; indexed: string; contract: string }[] | null;

  @Column('numeric', { precision: 90, scale: 0, nullable: true, transformer: BIGINT })
  indexedTotal!: bigint | null;

  @Column('numeric', { precision: 90, scale: 0, nullable: true, transformer: BIGINT })
  contractTotal!: bigint | null;
}
