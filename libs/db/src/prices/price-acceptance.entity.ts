import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** A figure that an operator has accepted; never changed. */
@Entity({ schema: 'staking', name: 'price_acceptance' })
export class PriceAcceptanceEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: string;

  @Column('timestamptz', { default: () => 'clock_timestamp()' })
  at!: Date;

  @Column('numeric')
  usd!: string;

  @Column('numeric')
  heldUsd!: string;

  @Column('text')
  reason!: string;

  @Column('text')
  actor!: string;
}
