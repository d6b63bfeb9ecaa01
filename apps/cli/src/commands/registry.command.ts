import {
  AcknowledgePublication,
  moment,
  registryStatus,
  type RegistryStatus,
} from '#libs/operations';
import { placeOf, RegistrySettings } from '../cli.env.js';
import { command, type CommandGroup } from '../command.js';
import { commandOf } from '../operation-command.js';
import { JSON_LINE, LIMIT, ON_STAKE_SET } from '../options.js';
import { fieldLines, table } from '../output/text.js';

const HEAD = ['DAY', 'STATUS', 'ROOT', 'TRANSACTION', 'REASON'];

const status = command({
  name: 'status',
  description:
    'show the roots that are published, those that wait, and days of which the registry holds another root',
  options: [LIMIT, ON_STAKE_SET, JSON_LINE],
  settings: RegistrySettings,
  async action(call) {
    const place = placeOf(call.settings);
    const found = await call.withDatabase(registryStatus, place, call.limit);
    call.print(found, statusText(found));
  },
});

export const registryCommands: CommandGroup = {
  name: 'registry',
  description: 'roots of sealed days that are published in the SnapshotRegistry on chain',
  commands: [status, commandOf(AcknowledgePublication)],
};

function statusText(found: RegistryStatus): string {
  const fields = fieldLines([
    ['registry', `${found.registry} on chain ${found.chainId}`],
    ['final', `${found.final}, up to ${found.lastDay ?? 'none'}`],
    ['in a block, not final', String(found.mined)],
    ['waiting', String(found.waiting)],
    ['oldest not final since', moment(found.waitingSince) ?? 'none'],
    ['another root on chain', String(found.different)],
    ['sealed again since', found.revised === 0 ? '0' : found.revisedDays.join(', ')],
  ]);
  if (found.publications.length === 0) return fields;
  const rows = found.publications.map((line) => [
    line.day,
    line.status,
    line.root,
    line.transactionHash ?? '',
    line.reason ?? '',
  ]);
  return `${fields}\n${table(HEAD, rows)}`;
}
