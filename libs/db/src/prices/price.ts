import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

export interface Price {
  /** US dollars for one whole token, a plain decimal above 0. */
  readonly usd: string;
  /** When the source found it. */
  readonly observedAt: Date;
  /** As in PRICE_SOURCE, without credentials. */
  readonly source: string;
}

/** A price that is not used before an operator has accepted it. */
export interface PriceHold {
  readonly since: Date;
  /** As in HoldReason of libs/price. */
  readonly reason: string;
  /** The price that was in use when it began. */
  readonly beforeUsd: string | undefined;
  /** The newest reading, which changes while it lasts. */
  readonly price: Price;
  /** PRICE_MAX_CHANGE of the indexer. */
  readonly maxChange: string;
  /** Whether an operator has accepted a figure since it began; the next price near it ends the hold. */
  readonly isAccepted: boolean;
}

/** What the next reading is judged by. */
export interface StandingPrice {
  /** The newest that was stored or, where that came later, accepted. */
  readonly beforeUsd: string | undefined;
  /** Of the last hour, or of the time since the newest acceptance. */
  readonly lowestUsd: string | undefined;
  readonly highestUsd: string | undefined;
  /** What an operator has accepted last. */
  readonly acceptedUsd: string | undefined;
  readonly hold: PriceHold | undefined;
}

/** What a redemption is quoted with. */
export interface QuotedPrices {
  readonly price: Price | undefined;
  /** While it is held no price is used. */
  readonly isHeld: boolean;
  readonly acceptedUsd: string | undefined;
}

@Entity({ schema: 'staking', name: 'price' })
export class PriceEntity {
  @PrimaryColumn('timestamptz')
  observedAt!: Date;

  @PrimaryColumn('text')
  source!: string;

  @Column('numeric')
  usd!: string;

  /** When it was last read from the source: the newest reading counts. */
  @Column('timestamptz', { default: () => 'clock_timestamp()' })
  readAt!: Date;
}

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
