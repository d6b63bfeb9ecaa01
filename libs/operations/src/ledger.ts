/**
 * A ledger that was restored from a backup. What happened after the backup is lost, so no redemption from before it may
 * be begun or planned again.
 */
import {
  countPrograms,
  type Database,
  KnownVaults,
  LedgerRestoreStore,
  REDEMPTION_PROGRAM,
  type RestoreScope,
} from '#libs/db';
import { PermanentError } from '#libs/domain';
import { type Operator } from './audit/audited.js';
import { OptionError } from './operation.error.js';
import { type ForgottenVaults } from './redemptions/chain-evidence.js';
import { moment } from './text/text.js';

/** Bounds of VOUCHER_TTL_SECONDS. */
export const TTL_SECONDS = { min: 10, max: 86_400 };
/** Maximum difference between the clocks of the service, the chain and the operator. */
const CLOCKS_SECONDS = 600;

export interface LedgerRestoreNote {
  readonly nowMs: number;
  /** Time of the backup. */
  readonly lostSinceMs: number;
  /** The largest VOUCHER_TTL_SECONDS that the service has had since the backup. */
  readonly voucherTtlSeconds: number;
  /** Vaults that the restored ledger does not know, from `forgottenVaults`. */
  readonly forgotten?: ForgottenVaults | undefined;
}

/**
 * The consequence of the note, for the operator to read before the note is made.
 * @throws PermanentError where a redemption service runs, OptionError
 */
export async function restoreConsequence(
  database: Database,
  note: LedgerRestoreNote,
): Promise<string> {
  const restores = new LedgerRestoreStore(database);
  await requireStopped(database);
  await requireEarlyEnough(restores, note.lostSinceMs);
  await requireLongEnough(restores, note.voucherTtlSeconds);
  const scope = await restores.scope(timesOf(note));
  return (
    `What happened since ${moment(note.lostSinceMs) ?? ''} is not in this ledger: ${restoreSummary(scope)}. Redemptions of this ledger are no longer begun or planned; each ends by what ` +
    `the vaults and the partner say, and no points go back before ${vouchersUntil(scope)}. This cannot be undone.`
  );
}

/**
 * Notes the restore, with its audit row. The operator confirms `restoreConsequence` before.
 * @throws PermanentError where a redemption service runs
 */
export async function noteLedgerRestore(
  database: Database,
  operator: Operator,
  note: LedgerRestoreNote,
): Promise<RestoreScope> {
  const { lostSinceMs, voucherTtlSeconds, forgotten } = note;
  await requireStopped(database);
  const known = new KnownVaults(database);
  if (forgotten) {
    for (const vault of forgotten.vaults) await known.add(forgotten.chainId, vault);
  }
  return new LedgerRestoreStore(database).record({
    ...timesOf(note),
    lostSinceMs,
    ...operator,
    arguments: {
      lostSince: moment(lostSinceMs) ?? '',
      voucherTtlSeconds,
      ...(forgotten && { vaults: forgotten.vaults.map(({ vault }) => vault) }),
    },
  });
}

function timesOf({ nowMs, voucherTtlSeconds }: LedgerRestoreNote) {
  return { nowMs, voucherSeconds: voucherTtlSeconds + CLOCKS_SECONDS };
}

async function requireStopped(database: Database): Promise<void> {
  if ((await countPrograms(database, REDEMPTION_PROGRAM)) === 0) return;
  throw new PermanentError(
    'REDEMPTION_RUNS',
    'A redemption service is connected to this database: it may be planning a payout that this note must prevent. Stop all of them (backup.md, step 1), then try again. Nothing was noted.',
  );
}

/** Refuses a time after which something is known to be missing: the note would not be of that loss. */
async function requireEarlyEnough(restores: LedgerRestoreStore, lostSinceMs: number) {
  const { unnoted } = await restores.standing();
  const missingAtMs = unnoted?.missingAtMs;
  if (missingAtMs === undefined || lostSinceMs <= missingAtMs) return;
  throw new OptionError(
    `--lost-since: ${unnoted?.noticed ?? ''}. Give the time of the backup, which is before that.`,
  );
}

/** Refuses a lifetime that is shorter than that of a voucher in the ledger. */
async function requireLongEnough(restores: LedgerRestoreStore, voucherTtl: number): Promise<void> {
  const longest = Math.min(await restores.longestVoucherSeconds(), TTL_SECONDS.max);
  if (voucherTtl >= longest) return;
  throw new OptionError(
    `--voucher-ttl: this ledger has vouchers of ${longest} seconds. Give ${longest}, or more where there were longer ones since the backup.`,
  );
}

/** The time after which no lost voucher can be claimed. */
export function vouchersUntil({ vouchersUntilSeconds }: RestoreScope): string {
  return moment(vouchersUntilSeconds * 1000) ?? '';
}

export function restoreSummary({ unplanned }: RestoreScope): string {
  const counts = Object.entries(unplanned).map(([state, count]) => `${count} ${state}`);
  return counts.length === 0
    ? 'no open redemption lacks a plan'
    : `open redemptions without a plan: ${counts.join(', ')}`;
}
