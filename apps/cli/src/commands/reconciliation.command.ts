import { type UnexplainedClaim } from '#libs/db';
import { AcknowledgeClaim, moment, printable, unexplainedClaims } from '#libs/operations';
import { OperatorSettings } from '../cli.env.js';
import { command, type CommandGroup } from '../command.js';
import { commandOf } from '../operation-command.js';
import { JSON_LINE, LIMIT, option } from '../options.js';
import { table } from '../output/text.js';

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

interface ListGiven {
  readonly all?: boolean;
}

const list = command({
  name: 'list',
  description: 'list claims that the ledger does not explain, as far as the chain was read',
  options: [option('--all', 'also those that were acknowledged'), LIMIT, JSON_LINE],
  settings: OperatorSettings,
  async action(call, { all = false }: ListGiven) {
    const claims = await call.withDatabase(unexplainedClaims, call.clock, {
      all,
      limit: call.limit,
    });
    call.printList(claims, listText(claims), claims.length);
  },
});

export const reconciliationCommands: CommandGroup = {
  name: 'reconciliation',
  description: 'claims on chain that the ledger does not explain',
  commands: [list, commandOf(AcknowledgeClaim)],
};

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
