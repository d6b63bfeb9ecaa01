/** Redemptions as operators search for them. Only reads. */
import {
  type Database,
  PartnerStore,
  type ReadRows,
  type RedemptionHistory,
  RedemptionMissingError,
  RedemptionPages,
  RedemptionViews,
} from '#libs/db';
import {
  type Address,
  type PartnerId,
  type Redemption,
  type RedemptionState,
  type UuidV7,
} from '#libs/domain';

export interface RedemptionQuestion {
  readonly state?: RedemptionState | undefined;
  readonly partner?: PartnerId | undefined;
  readonly wallet?: Address | undefined;
  readonly limit: number;
  /** `newest` redemption first, or the redemption that is in its state the `longest`. */
  readonly first: 'newest' | 'longest';
}

export interface ListedRedemption {
  readonly redemption: Redemption;
  readonly partnerName: string;
}

export interface FoundRedemptions {
  readonly listed: readonly ListedRedemption[];
  readonly unreadable: ReadRows['unreadable'];
}

export async function searchRedemptions(
  database: Database,
  question: RedemptionQuestion,
): Promise<FoundRedemptions> {
  const { limit, first } = question;
  const pages = new RedemptionPages(database);
  const { found, unreadable } =
    first === 'newest'
      ? await pages.newest(question, { limit })
      : await pages.longest(question, limit);
  const names = await new PartnerStore(database).names(
    found.map(({ redemption }) => redemption.partner),
  );
  const listed = found.map(({ redemption }) => ({
    redemption,
    partnerName: names.get(redemption.partner) ?? redemption.partner,
  }));
  return { listed, unreadable };
}

export interface ShownRedemption {
  readonly history: RedemptionHistory;
  readonly partnerName: string;
}

/**
 * Everything that the database knows of a redemption; `chainEvidence` reads the chain.
 * @throws RedemptionMissingError, UnreadableRedemptionError
 */
export async function showRedemption(database: Database, id: UuidV7): Promise<ShownRedemption> {
  const history = await new RedemptionViews(database).show(id);
  if (history === undefined) throw new RedemptionMissingError(id);
  const partner = await new PartnerStore(database).identify(history.redemption.partner);
  return { history, partnerName: partner?.partnerName ?? 'unknown' };
}
