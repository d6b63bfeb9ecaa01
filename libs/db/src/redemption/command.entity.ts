import { Column, Entity, type EntityManager, PrimaryGeneratedColumn } from 'typeorm';
import { type PartnerId } from '#libs/domain';

/** An operator's command, as the audit records it. */
export interface AuditNote {
  readonly command: string;
  readonly arguments?: object;
  readonly outcome: string;
}

/** An audit row: a command, its actor, and the redemption or partner concerned. Rows never change. */
@Entity({ schema: 'redemption', name: 'audit' })
export class CommandEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: string;

  @Column('timestamptz', { default: () => 'clock_timestamp()' })
  at!: Date;

  /** `operator:NAME` */
  @Column('text')
  actor!: string;

  @Column('text')
  command!: string;

  @Column('uuid', { nullable: true })
  redemptionId!: string | null;

  @Column('uuid', { nullable: true })
  partner!: PartnerId | null;

  @Column('jsonb', { default: {} })
  arguments!: object;

  @Column('text')
  outcome!: string;
}

/** Records a command in the transaction of its change, so that neither exists without the other. */
export async function noteCommand(
  manager: EntityManager,
  actor: string,
  note: AuditNote,
  of: { readonly redemptionId?: string; readonly partner?: PartnerId } = {},
): Promise<void> {
  await manager.insert(CommandEntity, { actor, ...note, ...of });
}
