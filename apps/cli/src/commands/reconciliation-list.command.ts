import { Command } from 'commander';
import { readSettings } from '#libs/config';
import { ClaimStore, type UnexplainedClaim } from '#libs/db';
import { positiveInteger } from '../callback/number-parsers.js';
import { OperatorSettings } from '../cli.env.js';
import { type CommandContext } from '../command-context.js';
import { jsonLine } from '../output/json-line.js';
import { moment } from '../output/moments.js';
import { printable } from '../output/printable.js';
import { table } from '../output/table.js';
import { withDatabase } from '../with-database.js';

const MOST = 10_000;
/** As long as the service gives its workers to record a claim. */
const OVERDUE_MS = 3_600_000;
const HEAD = [
  'ID',
  'KIND',
  'STATE',
  'CLAIMED AT',
  'AMOUNT',
  'RECIPIENT',
  'TRANSACTION',
  'ACKNOWLEDGED',
];

interface Options {
  readonly all?: true;
  readonly limit: number;
  readonly json?: true;
}

/** `reconciliation list`: the claims that no row explains, the oldest first. */
export function reconciliationListCommand({ source, terminal, clock }: CommandContext): Command {
  return new Command('list')
    .description('list claims that the ledger does not explain, as far as the chain was read')
    .option('--all', 'also those that were acknowledged')
    .option('--limit <number>', `how many, ${MOST} at most`, positiveInteger, 50)
    .option('--json', 'print one line of JSON')
    .action(async ({ all, limit, json }: Options) => {
      const settings = readSettings(OperatorSettings, source());
      const most = Math.min(limit, MOST);
      const claims = await withDatabase(settings.databaseUrl, (database) =>
        new ClaimStore(database).list(clock.nowMs() - OVERDUE_MS, {
          all: all === true,
          limit: most,
        }),
      );
      terminal.out(json === true ? jsonLine(claims) : listText(claims));
      if (json !== true && claims.length >= most) {
        terminal.err('There may be more: --limit shows them.\n');
      }
    });
}

function listText(claims: readonly UnexplainedClaim[]): string {
  if (claims.length === 0) return 'There are none.\n';
  const rows = claims.map((claim) => [
    claim.id,
    claim.kind,
    claim.state ?? '',
    moment(claim.blockAt) ?? '',
    claim.amount.toString(),
    claim.recipient,
    claim.transactionHash,
    claim.acknowledged === null
      ? ''
      : `${moment(claim.acknowledged.at) ?? ''} by ${claim.acknowledged.actor}: ${printable(claim.acknowledged.note)}`,
  ]);
  return table(HEAD, rows);
}
