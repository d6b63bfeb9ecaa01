import { Command, InvalidArgumentError } from 'commander';
import { readSettings } from '#libs/config';
import { type Database, LedgerRestoreStore, type Unplanned } from '#libs/db';
import { positiveInteger } from '../callback/number-parsers.js';
import { OperatorSettings } from '../cli.env.js';
import { type CommandContext } from '../command-context.js';
import { actorOf, actorOption } from '../operator/actor.js';
import { confirmed } from '../operator/confirmed.js';
import { OptionError } from '../option.error.js';
import { moment } from '../output/moments.js';
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
  readonly yes?: true;
  readonly as?: string;
}

/** `ledger restored`: what happened since the backup is lost, and nothing of before may be begun or planned again. */
export function ledgerRestoredCommand({ source, terminal, clock }: CommandContext): Command {
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
    .option('--yes', 'do not ask')
    .addOption(actorOption())
    .action(async ({ lostSince: lostSinceMs, voucherTtl, yes, as }: Options) => {
      const settings = readSettings(OperatorSettings, source());
      const atMs = clock.nowMs();
      if (lostSinceMs > atMs) throw new OptionError('--lost-since is later than now.');
      const vouchersUntilSeconds = Math.ceil(atMs / 1000) + voucherTtl + CLOCKS_SECONDS;
      const until = moment(vouchersUntilSeconds * 1000) ?? '';
      const since = moment(lostSinceMs) ?? '';
      const concerned = await withDatabase(settings.databaseUrl, async (database: Database) => {
        const restores = new LedgerRestoreStore(database);
        const unplanned = await restores.unplanned(atMs);
        if (yes !== true) await confirmed(terminal, consequence(unplanned, since));
        await restores.record({
          atMs,
          lostSinceMs,
          vouchersUntilSeconds,
          actor: actorOf(as === undefined ? {} : { as }),
          command: COMMAND,
          arguments: { lostSince: since, voucherTtlSeconds: voucherTtl },
        });
        return unplanned;
      });
      terminal.out(
        `Noted: ${summary(concerned)}.\nTheir points go back once a final block is later than ${until}, where the vault has not paid them.\n`,
      );
    });
}

function consequence(unplanned: Unplanned, since: string): string {
  return (
    `What happened since ${since} is not in this ledger: ${summary(unplanned)}. None of them is begun or planned again; each ends by what ` +
    'the vault and the partner say. This cannot be taken back.'
  );
}

function summary(unplanned: Unplanned): string {
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
