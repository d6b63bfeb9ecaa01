/** The settings of a partner, as the partner sees them. */
import { named } from '../connection/named.js';
import { type PortalQuery } from './portal-database.js';

export interface OwnPartner {
  readonly id: string;
  readonly name: string;
  /** `rate` is in requests per second in the long run, `burst` in requests at once after a pause. */
  readonly rate: number;
  readonly burst: number;
  readonly stakeSet: string | null;
  readonly createdAt: Date;
}

export interface OwnCredential {
  readonly id: string;
  readonly keyPrefix: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
  readonly endsAt: Date | null;
}

/** Amounts are decimal numbers as text. */
export interface OwnCallback {
  readonly url: string;
  readonly usdPerPoint: string;
  readonly bonusFromPoints: string | null;
  readonly bonusRate: string | null;
  readonly minPoints: string | null;
  readonly maxPoints: string | null;
  readonly dailyTokenBudget: string | null;
  readonly confirms: boolean;
  readonly capabilities: readonly string[];
  readonly paused: boolean;
  readonly updatedAt: Date;
}

export interface OwnMember {
  readonly subject: string;
  readonly name: string;
  readonly addedAt: Date;
}

export interface OwnStanding {
  readonly partner: OwnPartner;
  readonly callback: OwnCallback | undefined;
  /** Newest first. */
  readonly credentials: readonly OwnCredential[];
  readonly members: readonly OwnMember[];
}

const PARTNER = named<object>(
  'portal_partner',
  'SELECT id, name, rate, burst, stake_set AS "stakeSet", created_at AS "createdAt" FROM portal.partner',
);
const CREDENTIALS = named<object>(
  'portal_credentials',
  `SELECT id, key_prefix AS "keyPrefix", created_at AS "createdAt", last_used_at AS "lastUsedAt", revoked_at AS "revokedAt",
      ends_at AS "endsAt"
    FROM portal.credential ORDER BY created_at DESC, id`,
);
const CALLBACK = named<object>(
  'portal_callback',
  `SELECT url, usd_per_point::text AS "usdPerPoint", bonus_from_points::text AS "bonusFromPoints", bonus_rate::text AS "bonusRate",
      min_points::text AS "minPoints", max_points::text AS "maxPoints", daily_token_budget::text AS "dailyTokenBudget", confirms,
      to_json(capabilities) AS capabilities, paused, updated_at AS "updatedAt"
    FROM portal.callback`,
);
const MEMBERS = named<object>(
  'portal_members',
  'SELECT subject, name, added_at AS "addedAt" FROM portal.member ORDER BY added_at, subject',
);

/** @returns undefined where there is no such partner */
export async function readOwn(query: PortalQuery): Promise<OwnStanding | undefined> {
  const [partner] = await query<OwnPartner & object>(PARTNER({}));
  if (partner === undefined) return undefined;
  const [callback] = await query<OwnCallback & object>(CALLBACK({}));
  return {
    partner,
    callback,
    credentials: await query<OwnCredential & object>(CREDENTIALS({})),
    members: await query<OwnMember & object>(MEMBERS({})),
  };
}
