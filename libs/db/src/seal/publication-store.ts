/**
 * The publications of a registry. Each change names the state that it starts from, so that only one of
 * two processes makes it.
 */
import { type Address, type BlockHash } from '#libs/domain';
import { type Database, run } from '../connection/database.js';
import { named } from '../connection/named.js';
import { exclusively } from '../redemption/exclusively.js';
import { hexOf } from '../connection/rows.js';
import {
  AT_PLACE,
  NEWEST_TRANSACTION,
  type PlaceParameters,
  placeParameters,
  type Publication,
  PUBLICATION_COLUMNS,
  type PublicationContent,
  publicationOf,
  type PublicationRow,
  type RegistryPlace,
} from './publication.js';

const OF_DAY = `${AT_PLACE} AND p.day = :day`;

const OPEN = named<PlaceParameters & { limit: number }>(
  'publications_open',
  `SELECT ${PUBLICATION_COLUMNS} FROM redemption.registry_publication p ${NEWEST_TRANSACTION}
    WHERE ${AT_PLACE} AND p.status IN ('due', 'sent', 'mined') ORDER BY p.day LIMIT :limit`,
);

/** Over all registries in which the account publishes. */
const HIGHEST_NONCE = named<{ chainId: number; account: string }>(
  'publications_nonce',
  `SELECT max(nonce) AS nonce FROM redemption.registry_publication
    WHERE chain_id = :chainId AND account = decode(:account, 'hex') AND status IN ('sent', 'mined')`,
);

const LAST_DAY = named<PlaceParameters>(
  'publications_last_day',
  `SELECT max(day) AS day FROM redemption.registry_publication p WHERE ${AT_PLACE}`,
);

const ADD = named<PlaceParameters & Record<string, unknown>>(
  'publication_add',
  `INSERT INTO redemption.registry_publication (chain_id, registry, day, stake_set, revision, root, due_at)
    VALUES (:chainId, decode(:registry, 'hex'), :day, :stakeSet, :revision, decode(:root, 'hex'), :now)
    ON CONFLICT (chain_id, registry, day) DO NOTHING`,
);

const REVISE = named<PlaceParameters & Record<string, unknown>>(
  'publication_revise',
  `UPDATE redemption.registry_publication p SET revision = :revision, root = decode(:root, 'hex')
    WHERE ${OF_DAY} AND status IN ('due', 'sent') RETURNING day`,
);

/** Signs under a new nonce, or again under the nonce that the publication has. */
const SIGN = named<PlaceParameters & Record<string, unknown>>(
  'publication_sign',
  `UPDATE redemption.registry_publication p SET status = 'sent', account = decode(:account, 'hex'), nonce = :nonce
    WHERE ${OF_DAY} AND root = decode(:root, 'hex') AND (
      (status = 'due' AND p.nonce IS NULL)
      OR (status IN ('sent', 'mined') AND p.account = decode(:account, 'hex') AND p.nonce = :nonce))
    RETURNING day`,
);

const KEEP_TRANSACTION = named<PlaceParameters & Record<string, unknown>>(
  'publication_transaction',
  `INSERT INTO redemption.registry_transaction (chain_id, hash, registry, day, account, nonce, root, gas_price, gas, signed_at)
    VALUES (:chainId, decode(:hash, 'hex'), decode(:registry, 'hex'), :day, decode(:account, 'hex'), :nonce,
      decode(:root, 'hex'), :gasPrice, :gas, :now)
    ON CONFLICT (chain_id, hash) DO NOTHING`,
);

const SENT = named<PlaceParameters & { day: number }>(
  'publication_sent',
  `UPDATE redemption.registry_publication p SET status = 'sent' WHERE ${OF_DAY} AND status = 'mined' AND nonce IS NOT NULL`,
);

const MINED = named<PlaceParameters & { day: number }>(
  'publication_mined',
  `UPDATE redemption.registry_publication p SET status = 'mined' WHERE ${OF_DAY} AND status IN ('due', 'sent')`,
);

const UNSIGNED = named<PlaceParameters & { day: number }>(
  'publication_unsigned',
  `UPDATE redemption.registry_publication p SET status = 'due', account = NULL, nonce = NULL
    WHERE ${OF_DAY} AND status IN ('sent', 'mined')`,
);

const SETTLED = named<PlaceParameters & Record<string, unknown>>(
  'publication_settled',
  `UPDATE redemption.registry_publication p SET status = :status, settled_at = :now, reason = nullif(:reason, '')
    WHERE ${OF_DAY} AND status IN ('due', 'sent', 'mined') RETURNING day`,
);

export interface SignedPublication extends Pick<PublicationContent, 'day' | 'root'> {
  readonly account: Address;
  readonly nonce: number;
  readonly hash: BlockHash;
  readonly gasPrice: bigint;
  readonly gas: bigint;
  readonly nowMs: number;
}

export class PublicationStore {
  private readonly at: PlaceParameters;

  constructor(
    private readonly database: Database,
    place: RegistryPlace,
  ) {
    this.at = placeParameters(place);
  }

  /** @see exclusively */
  exclusively<T>(
    work: (lease: AbortSignal) => Promise<T>,
  ): Promise<{ readonly result: T } | undefined> {
    return exclusively(this.database, 'registry', work);
  }

  /** The publications that are not final, earliest first. */
  async open(limit: number): Promise<Publication[]> {
    const statement = OPEN({ ...this.at, limit });
    return (await this.database.query<PublicationRow>(statement)).map(publicationOf);
  }

  /**
   * Highest nonce of the account's publications that are signed and not final, in any registry;
   * undefined where there is none.
   */
  async highestNonce(account: Address): Promise<number | undefined> {
    const { chainId } = this.at;
    const statement = HIGHEST_NONCE({ chainId, account: hexOf(account) });
    const [row] = await this.database.query<{ nonce: string | null }>(statement);
    return row?.nonce == null ? undefined : Number(row.nonce);
  }

  /** The last day of all publications; undefined where there are none. */
  async lastDay(): Promise<number | undefined> {
    const [row] = await this.database.query<{ day: number | null }>(LAST_DAY(this.at));
    return row?.day ?? undefined;
  }

  /** Adds a publication. Does nothing where there is one for the day. */
  async add(
    { day, revision, root }: PublicationContent,
    stakeSet: string,
    nowMs: number,
  ): Promise<void> {
    const now = new Date(nowMs);
    await this.database.query(ADD({ ...this.at, day, revision, root: hexOf(root), stakeSet, now }));
  }

  /**
   * Sets the root of a sealed day that came out differently before its root was on chain.
   * @returns false where it is too late
   */
  async revise({ day, revision, root }: PublicationContent): Promise<boolean> {
    const change = { day, revision, root: hexOf(root) };
    const rows = await this.database.query(REVISE({ ...this.at, ...change }));
    return rows.length > 0;
  }

  /**
   * Stores the signed transaction before it is sent.
   * @returns false where another process has moved the publication on, and nothing must be sent
   * @throws DatabaseRefusedError where another publication has the nonce
   */
  sign(signed: SignedPublication): Promise<boolean> {
    const { day, nonce, gasPrice, gas, nowMs } = signed;
    const values = {
      ...{ ...this.at, day, nonce, gasPrice, gas, now: new Date(nowMs) },
      ...{ account: hexOf(signed.account), hash: hexOf(signed.hash), root: hexOf(signed.root) },
    };
    return this.database.transaction(async (client) => {
      const rows = await run(client, SIGN(values));
      if (rows.length === 0) return false;
      await run(client, KEEP_TRANSACTION(values));
      return true;
    });
  }

  /** The newest block contains the publication. */
  async mined(day: number): Promise<void> {
    await this.database.query(MINED({ ...this.at, day }));
  }

  /** The newest block does not contain the publication any more. Its transaction has to be sent again. */
  async takenBack(day: number): Promise<void> {
    await this.database.query(SENT({ ...this.at, day }));
  }

  /** A final block contains another transaction with this nonce. The publication needs another nonce. */
  async unsigned(day: number): Promise<void> {
    await this.database.query(UNSIGNED({ ...this.at, day }));
  }

  /** A final block contains the publication. */
  async final(day: number, nowMs: number): Promise<void> {
    await this.settle(day, 'final', '', nowMs);
  }

  /** The registry holds something else for the day. @returns whether this is new */
  refused(day: number, reason: string, nowMs: number): Promise<boolean> {
    return this.settle(day, 'refused', reason, nowMs);
  }

  private async settle(
    day: number,
    status: 'final' | 'refused',
    reason: string,
    nowMs: number,
  ): Promise<boolean> {
    const settled = { day, status, reason, now: new Date(nowMs) };
    return (await this.database.query(SETTLED({ ...this.at, ...settled }))).length > 0;
  }
}
