import { Column, Entity, type EntityManager, PrimaryGeneratedColumn } from 'typeorm';

/** An operator's command, as the audit keeps it. */
export interface AuditNote {
  readonly command: string;
  readonly arguments?: object;
  readonly outcome: string;
}

/** A note of a command, with who gave it and what it concerned; never changed. */
@Entity({ schema: 'redemption', name: 'audit' })
export class CommandEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: string;

  @Column('timestamptz', { default: () => 'clock_timestamp()' })
  at!: Date;

  /** `operator:NAME`. */
  @Column('text')
  actor!: string;

  @Column('text')
  command!: string;

  @Column('uuid', { nullable: true })
  redemptionId!: string | null;

  @Column('uuid', { nullable: true })
  partner!: string | null;

  @Column('jsonb', { default: {} })
  arguments!: object;

  @Column('text')
  outcome!: string;
}

/** Notes a command in the transaction of what it changes, so that neither is without the other. */
export async function noteCommand(
  manager: EntityManager,
  actor: string,
  note: AuditNote,
  of: { readonly redemptionId?: string; readonly partner?: string } = {},
): Promise<void> {
  await manager.insert(CommandEntity, { actor, ...note, ...of });
}
