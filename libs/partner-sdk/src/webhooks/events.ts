/** Events of webhooks. Amounts of tokens are whole numbers in the token's smallest unit, as text. */

interface EventOf<Type extends string, Data> {
  /**
   * The header `webhook-id`, the same at each attempt. Answer an id that you have seen with 2xx and do nothing else.
   */
  readonly id: string;
  readonly type: Type;
  /** The time at which the event happened, ISO 8601. */
  readonly timestamp: string;
  readonly data: Data;
}

/** A UTC day was sealed. A revision above 1 says that the day differs from the revision that was sealed before. */
export type DaySealedEvent = EventOf<
  'day.sealed',
  {
    readonly stakeSet: string;
    /** Such as `2026-11-21`. */
    readonly day: string;
    readonly revision: number;
    readonly root: string;
    /** The root of the previous revision. */
    readonly previousRoot?: string;
    /** Number of wallets with a low-water mark above zero. */
    readonly wallets: number;
    /** Sum of the low-water marks. */
    readonly total: string;
    readonly tokenDecimals: number;
    /** Number of the last block of the day. */
    readonly blockNumber: number;
    readonly blockHash: string;
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
    /** US dollars, as a decimal number. */
    readonly usdAmount: string;
    readonly tokenAmount: string;
    readonly tokenDecimals: number;
    /** Hash of the transaction of the claim; null where there is none. */
    readonly transactionHash: string | null;
  }
>;

/** A figure that was wrong in an answer, in the unit of the answer. */
export interface CorrectedFigure {
  readonly walletAddress: string;
  /** Of the answer, such as `snapshotAmount`. */
  readonly field: string;
  /** Such as `2026-11-21`; of an average the last day. */
  readonly day?: string;
  /** Of a history. */
  readonly block?: number;
  /** Null: the answer left the entry out. */
  readonly signed: number | string | null;
  /** Null: there is no such entry. */
  readonly correct: number | string | null;
}

/** Answers to you were signed with a wrong figure, which is corrected now. */
export type AnswersCorrectedEvent = EventOf<
  'answers.corrected',
  {
    readonly correction: string;
    readonly correctedAt: string;
    readonly stakeSet: string;
    readonly reason: string;
    /** Number of answers, more than `answers` has where they are many. */
    readonly count: number;
    readonly answers: readonly {
      /** Id in the log of requests. */
      readonly request: string;
      /** X-Request-Id; null in older rows. */
      readonly requestId: string | null;
      readonly requestedAt: string;
      /** False: only the beginning of the answer is known, so it may have a wrong figure. */
      readonly isCertain: boolean;
      readonly figures: readonly CorrectedFigure[];
    }[];
  }
>;

/** A test event, which a person sends to try the address of a webhook. */
export type WebhookTestEvent = EventOf<'webhook.test', Record<string, never>>;

export type WebhookEvent =
  DaySealedEvent | RedemptionEvent | AnswersCorrectedEvent | WebhookTestEvent;

export type Kind = 'text' | 'number' | 'text or null' | 'list';

/** The fields that every event of a type has. */
type Fields = Readonly<Record<string, Kind>>;

const REDEMPTION: Fields = {
  ...{ walletAddress: 'text', tokenDecimals: 'number' },
  ...{ redemptionId: 'text', status: 'text', points: 'number' },
  ...{ usdAmount: 'text', tokenAmount: 'text', transactionHash: 'text or null' },
};
export const EVENT_FIELDS: Readonly<Record<WebhookEvent['type'], Fields>> = {
  'day.sealed': {
    ...{ stakeSet: 'text', day: 'text', revision: 'number', root: 'text', wallets: 'number' },
    ...{ total: 'text', tokenDecimals: 'number', blockNumber: 'number', blockHash: 'text' },
  },
  'redemption.initial': REDEMPTION,
  'redemption.pending': REDEMPTION,
  'redemption.claimed': REDEMPTION,
  'redemption.reverted': REDEMPTION,
  'redemption.failed': REDEMPTION,
  'answers.corrected': {
    ...{ correction: 'text', correctedAt: 'text', stakeSet: 'text', reason: 'text' },
    ...{ count: 'number', answers: 'list' },
  },
  'webhook.test': {},
};
