import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { type BlockHash } from '#libs/domain';
import { BIGINT, COUNT, HEX } from '../connection/columns.js';
import { type AuditRun } from './audit-run.js';

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
