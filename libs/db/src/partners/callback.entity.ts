import { Column, Entity, JoinColumn, OneToOne, PrimaryColumn } from 'typeorm';
import { type Decimal, type PartnerCapability, type PartnerId } from '#libs/domain';
import { BIGINT, DECIMAL } from '../connection/columns.js';
import { PartnerEntity } from './partner.entity.js';

/** How a partner is called. The reading role has no right to this table. */
@Entity({ schema: 'partners', name: 'callback' })
export class CallbackEntity {
  @PrimaryColumn('uuid')
  partnerId!: PartnerId;

  @OneToOne(() => PartnerEntity)
  @JoinColumn()
  partner!: PartnerEntity;

  @Column('text')
  url!: string;

  @Column('text')
  key!: string;

  @Column('bytea')
  secretCiphertext!: Buffer;

  @Column('numeric', { transformer: DECIMAL })
  usdPerPoint!: Decimal;

  @Column('bigint', { nullable: true, transformer: BIGINT })
  bonusFromPoints!: bigint | null;

  @Column('numeric', { nullable: true, transformer: DECIMAL })
  bonusRate!: Decimal | null;

  @Column('bigint', { nullable: true, transformer: BIGINT })
  minPoints!: bigint | null;

  @Column('bigint', { nullable: true, transformer: BIGINT })
  maxPoints!: bigint | null;

  @Column('numeric', { nullable: true, transformer: DECIMAL })
  dailyTokenBudget!: Decimal | null;

  @Column('boolean', { default: true })
  confirms!: boolean;

  @Column('text', { array: true, default: [] })
  capabilities!: PartnerCapability[];

  @Column('boolean', { default: false })
  paused!: boolean;

  @Column('timestamptz', { default: () => 'now()' })
  updatedAt!: Date;
}
