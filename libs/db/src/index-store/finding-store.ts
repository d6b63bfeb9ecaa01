/**
 * What a check has found to be wrong in the index and is not repaired yet. The api does not answer about a wallet with
 * a finding, or about any wallet while a sum is known to differ.
 */
import { type Address } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';
import { addressBytes, addressOf } from '../connection/rows.js';

/** Known wallets that are wrong; `all` if a sum differs, so that any wallet may be wrong. */
export type Findings = readonly Address[] | 'all';

/** Wallets with a finding of their own. Beyond that number the whole index counts as wrong. */
const MOST_WALLETS = 1000;
/** Stands for the whole index. */
const WHOLE = Buffer.alloc(0);

const RECORD = named<{ wallets: Buffer[]; foundBy: string }>(
  'finding_record',
  `INSERT INTO staking.finding (wallet, found_by) SELECT DISTINCT u.wallet, :foundBy::text FROM unnest(:wallets::bytea[]) AS u (wallet)
    ON CONFLICT DO NOTHING`,
);

const LIST = named(
  'finding_list',
  `SELECT encode(wallet, 'hex') AS wallet FROM staking.finding ORDER BY wallet`,
);

const ANY = named('finding_any', 'SELECT EXISTS (SELECT FROM staking.finding) AS found');

const CLEAR = named('finding_clear', 'DELETE FROM staking.finding');

export const CLEAR_WALLETS = named<{ wallets: Buffer[] }>(
  'finding_clear_wallets',
  'DELETE FROM staking.finding WHERE wallet = ANY (:wallets::bytea[])',
);

/**
 * Records that wallets, or a sum, are wrong. From its commit on the api does not answer about them, until
 * `lowmark index repair` has repaired them.
 * @param foundBy the check, for example `audit` or `seal`
 */
export async function recordFinding(
  database: Database,
  found: Findings,
  foundBy: string,
): Promise<void> {
  const isWhole = found === 'all' || found.length > MOST_WALLETS;
  const wallets = isWhole ? [WHOLE] : found.map(addressBytes);
  if (wallets.length > 0) await database.query(RECORD({ wallets, foundBy }));
}

/** Whether any wallet or sum is known to be wrong. */
export async function hasFindings(database: Database): Promise<boolean> {
  const [row] = await database.query<{ found: boolean }>(ANY({}));
  return row?.found === true;
}

export async function readFindings(database: Database): Promise<Findings> {
  const rows = await database.query<{ wallet: string }>(LIST({}));
  const found = findingsOf(rows.map(({ wallet }) => addressOf(wallet)));
  return found === 'all' ? found : [...found];
}

/** @param rows wallets as they are stored; `0x` stands for the whole index */
export function findingsOf(rows: readonly Address[]): ReadonlySet<Address> | 'all' {
  return rows.some((wallet) => wallet.length === 2) ? 'all' : new Set(rows);
}

/** Removes the findings of wallets that agree with the chain; `all`: every finding. */
export async function clearFindings(database: Database, checked: Findings): Promise<void> {
  await database.query(
    checked === 'all' ? CLEAR({}) : CLEAR_WALLETS({ wallets: checked.map(addressBytes) }),
  );
}
