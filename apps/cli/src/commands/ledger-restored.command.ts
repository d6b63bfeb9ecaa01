import { Command, InvalidArgumentError } from 'commander';
import { readSettings } from '#libs/config';
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
import { positiveInteger } from '../callback/number-parsers.js';
import { OperatorSettings } from '../cli.env.js';
import { type CommandContext } from '../command-context.js';
import { actorOf, actorOption } from '../operator/actor.js';
import { confirmed } from '../operator/confirmed.js';
import { OptionError } from '../option.error.js';
import { moment } from '../output/moments.js';
import { forgottenVaults, vaultOption } from '../redemption/forgotten-vault.js';
import { withDatabase } from '../with-database.js';

const COMMAND = 'ledger restored';
/** The least and the most that VOUCHER_TTL_SECONDS can be. */
const TTL_SECONDS = { min: 10, max: 86_400 };
/** What the clocks of the service, the chain and whoever types this may differ by. */
const CLOCKS_SECONDS = 600;
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?Z$/;

interface Options {
  readonly lostSince: number;
  readonly voucherTtl: number;
  readonly vault?: readonly KnownVault[];
  readonly yes?: true;
  readonly as?: string;
}

class ServiceRunsError extends PermanentError {
  constructor() {
    super(
      'REDEMPTION_RUNS',
      'A redemption service is connected to this database: it may just be planning what this note is to forbid. Stop every one of them (backup.md, step 1), then try again. Nothing was noted.',
    );
  }
}

/** `ledger restored`: what happened since the backup is lost, and nothing of before may be begun or planned again. */
export function ledgerRestoredCommand(context: CommandContext): Command {
  return new Command('restored')
    .description('note that the ledger was restored from a backup, before the service runs again')
    .requiredOption(
      '--lost-since <time>',
      'the moment of the backup, such as 2026-03-01T02:00:00Z',
      utc,
    )
    .requiredOption(
      '--voucher-ttl <seconds>',
      'the largest VOUCHER_TTL_SECONDS that the service has had since then',
      ttl,
    )
    .option(
      '--vault <address[:block]>',
      'each VAULT_CONTRACT, with its VAULT_START_BLOCK, that was set after the backup and is not the present one',
      vaultOption,
    )
    .option('--yes', 'do not ask')
    .addOption(actorOption())
    .action((options: Options) => noteRestore(context, options));
}

async function noteRestore(
  { source, terminal, clock }: CommandContext,
  { lostSince: lostSinceMs, voucherTtl, vault: named = [], yes, as }: Options,
): Promise<void> {
  const settings = readSettings(OperatorSettings, source());
  const nowMs = clock.nowMs();
  if (lostSinceMs > nowMs) throw new OptionError('--lost-since is later than now.');
  const forgotten = await forgottenVaults(named, source(), clock);
  const since = moment(lostSinceMs) ?? '';
  const times = { nowMs, voucherSeconds: voucherTtl + CLOCKS_SECONDS };
  const noted = await withDatabase(settings.databaseUrl, async (database) => {
    const restores = new LedgerRestoreStore(database);
    await requireStopped(database);
    await requireLongEnough(restores, voucherTtl);
    if (yes !== true) await confirmed(terminal, consequence(await restores.scope(times), since));
    await requireStopped(database);
    const known = new KnownVaults(database);
    if (forgotten) {
      for (const vault of forgotten.vaults) await known.add(forgotten.chainId, vault);
    }
    return restores.record({
      ...times,
      lostSinceMs,
      actor: actorOf(as === undefined ? {} : { as }),
      command: COMMAND,
      arguments: {
        lostSince: since,
        voucherTtlSeconds: voucherTtl,
        ...(forgotten && { vaults: forgotten.vaults.map(({ vault }) => vault) }),
      },
    });
  });
  terminal.out(
    `Noted: ${summary(noted)}.\nTheir points go back once a final block is later than ${until(noted)}, where no vault has paid them.\n`,
  );
}

async function requireStopped(database: Database): Promise<void> {
  if ((await countPrograms(database, REDEMPTION_PROGRAM)) > 0) throw new ServiceRunsError();
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
