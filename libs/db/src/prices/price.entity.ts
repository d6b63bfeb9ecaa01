import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity({ schema: 'staking', name: 'price' })
export class PriceEntity {
  /** When the source found the price. */
  @PrimaryColumn('timestamptz')
  observedAt!: Date;

  @PrimaryColumn('text')
  source!: string;

  /** A plain decimal above 0. */
  @Column('numeric')
  usd!: string;

  /** When it was last read from the source: the newest reading counts. */
  @Column('timestamptz', { default: () => 'clock_timestamp()' })
  readAt!: Date;
}
