import {
  CHAIN_ID_SETTING,
  REGISTRY_ADDRESS_SETTING,
  registryOf,
  Setting,
  type SetRegistry,
} from '#libs/config';
import { type RegistryPlace } from '#libs/db';
import { parseDay } from '#libs/domain';
import {
  acknowledgePublication,
  moment,
  OptionError,
  registryStatus,
  type RegistryStatus,
} from '#libs/operations';
import { StakeSetSettings } from '../cli.env.js';
import { command, type CommandGroup } from '../command.js';
import { argument, AS, expecting, JSON_LINE, LIMIT, NOTE, ON_STAKE_SET } from '../options.js';
import { fieldLines, table } from '../output/text.js';

class RegistrySettings extends StakeSetSettings {
  @Setting(CHAIN_ID_SETTING)
  readonly chainId!: number;

  @Setting({ ...REGISTRY_ADDRESS_SETTING, optional: false })
  readonly registryAddress!: readonly SetRegistry[];
}

const DAY = argument('<day>', 'as 2026-01-31', expecting('a day such as 2026-01-31.', parseDay));
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

const acknowledge = command({
  name: 'acknowledge',
  description:
    'end the alert of a day of which the registry holds another root; nothing changes on chain',
  arguments: [DAY],
  options: [NOTE, AS, ON_STAKE_SET],
  settings: RegistrySettings,
  async action(call, given: { readonly day: number; readonly note: string }) {
    const { clock, operator } = call;
    const place = placeOf(call.settings);
    await call.withDatabase((database) =>
      acknowledgePublication({ database, clock, operator }, place, given),
    );
    call.terminal.out('Acknowledged. What comes out differently later is an alert again.\n');
  },
});

export const registryCommands: CommandGroup = {
  name: 'registry',
  description: 'roots of sealed days that are published in the SnapshotRegistry on chain',
  commands: [status, acknowledge],
};

/** @throws OptionError where the stake set has no registry */
function placeOf({ chainId, registryAddress, stakeSet }: RegistrySettings): RegistryPlace {
  const registry = registryOf(registryAddress, stakeSet);
  if (registry !== undefined) return { chainId, registry };
  throw new OptionError(`REGISTRY_ADDRESS names no registry of the stake set ${stakeSet}.`);
}

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
