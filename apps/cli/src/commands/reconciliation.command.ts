import { type UnexplainedClaim } from '#libs/db';
import {
  acknowledgeClaim,
  moment,
  parseClaimId,
  printable,
  unexplainedClaims,
} from '#libs/operations';
import { OperatorSettings } from '../cli.env.js';
import { command, type CommandGroup } from '../command.js';
import { argument, AS, expecting, JSON_LINE, LIMIT, NOTE, option } from '../options.js';
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

const acknowledge = command({
  name: 'acknowledge',
  description: 'take a claim that you have explained out of the alerts; it stays in the list',
  arguments: [
    argument(
      '<id>',
      'as `reconciliation list` has it',
      expecting('the id of a redemption, or 0x and 64 hex digits.', parseClaimId),
    ),
  ],
  options: [NOTE, AS],
  settings: OperatorSettings,
  async action(call, { id, note }: { readonly id: string; readonly note: string }) {
    await call.withDatabase(acknowledgeClaim, call.clock, call.operator, { id, note });
    call.terminal.out(
      `Acknowledged. The alert ends with the next reconciliation, which the service makes within the hour.\n`,
    );
  },
});

export const reconciliationCommands: CommandGroup = {
  name: 'reconciliation',
  description: 'claims on chain that the ledger does not explain',
  commands: [list, acknowledge],
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
