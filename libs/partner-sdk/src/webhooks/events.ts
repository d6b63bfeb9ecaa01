/** What webhooks tell. Amounts are whole numbers in the token's smallest unit, as text. */

interface EventOf<Type extends string, Data> {
  /** `webhook-id`: the same at each attempt; what was seen before is answered with 2xx and done nothing about. */
  readonly id: string;
  readonly type: Type;
  /** When it came about, ISO 8601. */
  readonly timestamp: string;
  readonly data: Data;
}

/** A UTC day was sealed; with a higher revision: it came out differently from what was sealed before. */
export type DaySealedEvent = EventOf<
  'day.sealed',
  {
    readonly stakeSet: string;
    /** `2026-11-21`. */
    readonly day: string;
    readonly revision: number;
    readonly root: string;
    /** Of the revision before this one. */
    readonly previousRoot?: string;
    /** Those with a low above zero. */
    readonly wallets: number;
    /** The sum of their lows. */
    readonly total: string;
    readonly tokenDecimals: number;
    /** The last block of the day. */
    readonly blockNumber: number;
    readonly blockHash: string;
  }
>;

/** A wallet came into another tier of your rule. */
export type WalletTierChangedEvent = EventOf<
  'wallet.tier-changed',
  {
    readonly walletAddress: string;
    /** How many thresholds it reaches; 0 is below the first. */
    readonly tier: number;
    readonly previousTier: number;
    /** Of the tier, by the rule at that time; null below the first. Absent in events of before this field. */
    readonly threshold?: string | null;
    readonly measure: 'low' | 'average' | 'balance';
    /** What was measured; of an average rounded down. */
    readonly amount: string;
    readonly tokenDecimals: number;
    readonly stakeSet: string;
    /** The last day measured; not of the balance. */
    readonly day?: string;
    /** Of the average: how many days up to that one. */
    readonly days?: number;
    /** Of the balance: the final block that it is of. */
    readonly blockNumber?: number;
  }
>;

export type RedemptionStatus = 'initial' | 'pending' | 'claimed' | 'reverted' | 'failed';

/** The public status of a redemption with you changed. */
export type RedemptionEvent = EventOf<
  `redemption.${RedemptionStatus}`,
  {
    readonly redemptionId: string;
    readonly walletAddress: string;
    readonly status: RedemptionStatus;
    readonly points: number;
    /** A decimal number. */
    readonly usdAmount: string;
    readonly tokenAmount: string;
    readonly tokenDecimals: number;
    /** Of the claim; null where there is none. */
    readonly transactionHash: string | null;
  }
>;

/** Sent by hand, to try an address. */
export type WebhookTestEvent = EventOf<'webhook.test', Record<string, never>>;

export type WebhookEvent =
  DaySealedEvent | WalletTierChangedEvent | RedemptionEvent | WebhookTestEvent;

type Kind = 'text' | 'number' | 'text or null';

/** The fields that each type always has. */
type Fields = Readonly<Record<string, Kind>>;

const WALLET: Fields = { walletAddress: 'text', tokenDecimals: 'number' };
const REDEMPTION: Fields = {
  ...{ ...WALLET, redemptionId: 'text', status: 'text', points: 'number' },
  ...{ usdAmount: 'text', tokenAmount: 'text', transactionHash: 'text or null' },
};
export const EVENT_FIELDS: Readonly<Record<WebhookEvent['type'], Fields>> = {
  'day.sealed': {
    ...{ stakeSet: 'text', day: 'text', revision: 'number', root: 'text', wallets: 'number' },
    ...{ total: 'text', tokenDecimals: 'number', blockNumber: 'number', blockHash: 'text' },
  },
  'wallet.tier-changed': {
    ...{ ...WALLET, tier: 'number', previousTier: 'number', measure: 'text' },
    ...{ amount: 'text', stakeSet: 'text' },
  },
  'redemption.initial': REDEMPTION,
  'redemption.pending': REDEMPTION,
  'redemption.claimed': REDEMPTION,
  'redemption.reverted': REDEMPTION,
  'redemption.failed': REDEMPTION,
  'webhook.test': {},
};
