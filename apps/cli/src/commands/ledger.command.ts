import { InvalidArgumentError } from 'commander';
import {
  countPrograms,
  type Database,
  type KnownVault,
  KnownVaults,
  LedgerRestoreStore,
  REDEMPTION_PROGRAM,
  type RestoreScope,
} from '#libs/db';
import { PermanentError } from '#libs/domain';
import { OptionError } from '../cli.errors.js';
import { OperatorSettings } from '../cli.env.js';
import { type Call, command, type CommandGroup } from '../command.js';
import { AS, option, positiveInteger, required, YES } from '../options.js';
import { moment } from '../output/text.js';
import { forgottenVaults, vaultOption } from '../redemption/chain-evidence.js';

/** The least and the most that VOUCHER_TTL_SECONDS can be. */
const TTL_SECONDS = { min: 10, max: 86_400 };
/** What the clocks of the service, the chain and the operator may differ by. */
const CLOCKS_SECONDS = 600;
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?Z$/;

interface Given {
  readonly lostSince: number;
  readonly voucherTtl: number;
  readonly vault?: readonly KnownVault[];
}

/** What happened since the backup is lost, and nothing of before may be begun or planned again. */
const restored = command({
  name: 'restored',
  description: 'note that the ledger was restored from a backup, before the service runs again',
  options: [
    required('--lost-since <time>', 'the moment of the backup, such as 2026-03-01T02:00:00Z', utc),
    required(
      '--voucher-ttl <seconds>',
      'the largest VOUCHER_TTL_SECONDS that the service has had since then',
      ttl,
    ),
    option(
      '--vault <address[:block]>',
      'each VAULT_CONTRACT, with its VAULT_START_BLOCK, that was set after the backup and is not the present one',
      vaultOption,
    ),
    YES,
    AS,
  ],
  settings: OperatorSettings,
  action: noteRestore,
});

export const ledgerCommands: CommandGroup = {
  name: 'ledger',
  description: 'the ledger of the redemptions as a whole',
  commands: [restored],
};

async function noteRestore(
  call: Call<OperatorSettings>,
  { lostSince: lostSinceMs, voucherTtl, vault: named = [] }: Given,
): Promise<void> {
  const nowMs = call.clock.nowMs();
  if (lostSinceMs > nowMs) throw new OptionError('--lost-since is later than now.');
  const forgotten = await forgottenVaults(named, call.source, call.clock);
  const since = moment(lostSinceMs) ?? '';
  const times = { nowMs, voucherSeconds: voucherTtl + CLOCKS_SECONDS };
  const noted = await call.withDatabase(async (database) => {
    const restores = new LedgerRestoreStore(database);
    await requireStopped(database);
    await requireLongEnough(restores, voucherTtl);
    await call.confirm(consequence(await restores.scope(times), since));
    await requireStopped(database);
    const known = new KnownVaults(database);
    if (forgotten) {
      for (const vault of forgotten.vaults) await known.add(forgotten.chainId, vault);
    }
    return restores.record({
      ...times,
      lostSinceMs,
      actor: call.actor,
      command: call.command,
      arguments: {
        lostSince: since,
        voucherTtlSeconds: voucherTtl,
        ...(forgotten && { vaults: forgotten.vaults.map(({ vault }) => vault) }),
      },
    });
  });
  call.terminal.out(
    `Noted: ${summary(noted)}.\nTheir points go back once a final block is later than ${until(noted)}, where no vault has paid them.\n`,
  );
}

async function requireStopped(database: Database): Promise<void> {
  if ((await countPrograms(database, REDEMPTION_PROGRAM)) === 0) return;
  throw new PermanentError(
    'REDEMPTION_RUNS',
    'A redemption service is connected to this database: it may just be planning what this note is to forbid. Stop every one of them (backup.md, step 1), then try again. Nothing was noted.',
  );
}

/** What the ledger itself has seen is no less. */
async function requireLongEnough(restores: LedgerRestoreStore, voucherTtl: number): Promise<void> {
  const longest = Math.min(await restores.longestVoucherSeconds(), TTL_SECONDS.max);
  if (voucherTtl >= longest) return;
  throw new OptionError(
    `--voucher-ttl: this ledger has vouchers of ${longest} seconds. Give ${longest}, or more where there were longer ones since the backup.`,
  );
}

function consequence(scope: RestoreScope, since: string): string {
  return (
    `What happened since ${since} is not in this ledger: ${summary(scope)}. None of them is begun or planned again; each ends by what ` +
    `the vaults and the partner say, and no points of them go back before ${until(scope)}. This cannot be taken back.`
  );
}

function until({ vouchersUntilSeconds }: RestoreScope): string {
  return moment(vouchersUntilSeconds * 1000) ?? '';
}

function summary({ unplanned }: RestoreScope): string {
  const counts = Object.entries(unplanned).map(([state, count]) => `${count} ${state}`);
  return counts.length === 0
    ? 'no redemption is open without a plan'
    : `open without a plan are ${counts.join(', ')}`;
}

function utc(text: string): number {
  const ms = MOMENT.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(ms)) {
    throw new InvalidArgumentError('Expected a time in UTC such as 2026-03-01T02:00:00Z.');
  }
  return ms;
}

function ttl(text: string): number {
  const seconds = positiveInteger(text);
  const { min, max } = TTL_SECONDS;
  if (seconds < min || seconds > max) {
    throw new InvalidArgumentError(`Expected ${min} to ${max} seconds.`);
  }
  return seconds;
}
