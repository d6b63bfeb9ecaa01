import { Command, InvalidArgumentError, Option } from 'commander';
import { readSettings } from '#libs/config';
import {
  type Database,
  PartnerStore,
  PartnerUnknownError,
  type ReadRows,
  RedemptionViews,
} from '#libs/db';
import {
  type Address,
  parseAddress,
  type Redemption,
  REDEMPTION_STATES,
  type RedemptionState,
} from '#libs/domain';
import { positiveInteger } from '../callback/number-parsers.js';
import { OperatorSettings } from '../cli.env.js';
import { type CommandContext } from '../command-context.js';
import { OptionError } from '../option.error.js';
import { tokensText } from '../output/amounts.js';
import { jsonLine } from '../output/json-line.js';
import { duration } from '../output/moments.js';
import { table } from '../output/table.js';
import { withDatabase } from '../with-database.js';

const MOST = 10_000;
const HEAD = ['ID', 'STATE', 'FOR', 'PARTNER', 'WALLET', 'POINTS', 'TOKENS', 'REASON'];

interface Options {
  readonly attention?: true;
  readonly state?: RedemptionState;
  readonly partner?: string;
  readonly wallet?: Address;
  readonly limit: number;
  readonly json?: true;
}

interface Listed {
  readonly redemption: Redemption;
  readonly partnerName: string;
}

interface Found extends Pick<ReadRows, 'unreadable'> {
  readonly listed: readonly Listed[];
}

/** `redemption list`: the newest first; those in attention by how long they have waited. */
export function redemptionListCommand({ source, terminal, clock }: CommandContext): Command {
  return new Command('list')
    .description('list redemptions, the newest first')
    .option('--attention', 'those that wait for a person, the longest first')
    .addOption(new Option('--state <state>', 'those in one state').choices([...REDEMPTION_STATES]))
    .option('--partner <name>', 'name or id of a partner')
    .option('--wallet <0x…>', 'the wallet of a user', wallet)
    .option('--limit <number>', `how many, ${MOST} at most`, positiveInteger, 50)
    .option('--json', 'print one line of JSON')
    .action(async (options: Options) => {
      if (options.attention === true && options.state !== undefined) {
        throw new OptionError('Give either --attention or --state.');
      }
      const settings = readSettings(OperatorSettings, source());
      const { listed, unreadable } = await withDatabase(settings.databaseUrl, (database) =>
        list(database, options),
      );
      for (const { message } of unreadable) terminal.err(`${message}\n`);
      if (options.json === true) {
        terminal.out(
          jsonLine(listed.map(({ redemption, partnerName }) => ({ ...redemption, partnerName }))),
        );
        return;
      }
      terminal.out(listText(listed, clock.nowMs()));
      if (listed.length + unreadable.length >= Math.min(options.limit, MOST)) {
        terminal.err('There may be more: --limit shows them.\n');
      }
    });
}

async function list(database: Database, options: Options): Promise<Found> {
  const partners = new PartnerStore(database);
  const only = options.partner === undefined ? undefined : await partners.identify(options.partner);
  if (options.partner !== undefined && only === undefined) throw new PartnerUnknownError();
  const { found, unreadable } = await new RedemptionViews(database).search({
    state: options.attention === true ? 'attention' : options.state,
    partner: only?.partnerId,
    wallet: options.wallet,
    limit: Math.min(options.limit, MOST),
    first: options.attention === true ? 'longest' : 'newest',
  });
  const names = new Map(
    (await partners.list()).map(({ partnerId, partnerName }) => [partnerId, partnerName]),
  );
  const listed = found.map(({ redemption }) => ({
    redemption,
    partnerName: names.get(redemption.partner) ?? redemption.partner,
  }));
  return { listed, unreadable };
}

function listText(listed: readonly Listed[], nowMs: number): string {
  if (listed.length === 0) return 'There are none.\n';
  const rows = listed.map(({ redemption, partnerName }) => [
    redemption.id,
    redemption.state,
    duration(nowMs - redemption.stateSinceMs),
    partnerName,
    redemption.wallet,
    redemption.points.toString(),
    tokensText(redemption),
    redemption.reason ?? '',
  ]);
  return table(HEAD, rows);
}

function wallet(text: string): Address {
  const address = parseAddress(text);
  if (address === undefined) throw new InvalidArgumentError('Expected 0x and 40 hex digits.');
  return address;
}
