import { Option } from 'commander';
import {
  CallbackStore,
  type Database,
  EvidenceAdoption,
  PartnerStore,
  PartnerUnknownError,
  type ReadRows,
  RedemptionMissingError,
  RedemptionViews,
  type StoredRedemption,
} from '#libs/db';
import {
  type Address,
  type Redemption,
  REDEMPTION_STATES,
  type RedemptionState,
  type UuidV7,
} from '#libs/domain';
import { AdoptSettings, OperatorSettings } from '../cli.env.js';
import { OptionError } from '../cli.errors.js';
import { command, type CommandGroup } from '../command.js';
import {
  cancel,
  REDEMPTION,
  replayConfirm,
  resolve,
  retry,
  setPartnerTx,
} from './redemption-operations.command.js';
import { AS, JSON_LINE, LIMIT, option, wallet, YES } from '../options.js';
import { duration, printable, table, tokensText } from '../output/text.js';
import { chainEvidence } from '../redemption/chain-evidence.js';
import { evidenceKeys } from '../redemption/operate.js';
import { showText } from '../redemption/show-text.js';
import { waitsFor } from '../redemption/waits-for.js';

const HEAD = ['ID', 'STATE', 'FOR', 'PARTNER', 'WALLET', 'POINTS', 'TOKENS', 'REASON'];

interface ListGiven {
  readonly attention?: true;
  readonly state?: RedemptionState;
  readonly partner?: string;
  readonly wallet?: Address;
}

interface Listed {
  readonly redemption: Redemption;
  readonly partnerName: string;
}

/** The newest first; those in attention by how long they have waited. */
const list = command({
  name: 'list',
  description: 'list redemptions, the newest first',
  options: [
    option('--attention', 'those that wait for a person, the longest first'),
    new Option('--state <state>', 'those in one state').choices([...REDEMPTION_STATES]),
    option('--partner <name>', 'name or id of a partner'),
    option('--wallet <0x…>', 'the wallet of a user', wallet),
    LIMIT,
    JSON_LINE,
  ],
  check({ attention, state }: ListGiven) {
    if (attention === true && state !== undefined) {
      throw new OptionError('Give either --attention or --state.');
    }
  },
  settings: OperatorSettings,
  async action(call, given: ListGiven) {
    const { listed, unreadable } = await call.withDatabase((database) =>
      search(database, given, call.limit),
    );
    for (const { message } of unreadable) call.terminal.err(`${message}\n`);
    const json = listed.map(({ redemption, partnerName }) => ({ ...redemption, partnerName }));
    const text = listText(listed, call.clock.nowMs());
    call.printList(json, text, listed.length + unreadable.length);
  },
});

async function search(
  database: Database,
  { attention, state, partner, wallet: user }: ListGiven,
  limit: number,
): Promise<{ listed: Listed[]; unreadable: ReadRows['unreadable'] }> {
  const partners = new PartnerStore(database);
  const only = partner === undefined ? undefined : await partners.identify(partner);
  if (partner !== undefined && only === undefined) throw new PartnerUnknownError();
  const { found, unreadable } = await new RedemptionViews(database).search({
    state: attention === true ? 'attention' : state,
    partner: only?.partnerId,
    wallet: user,
    limit,
    first: attention === true ? 'longest' : 'newest',
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

/** All that is known of one redemption, and what the chain says of it now. */
const show = command({
  name: 'show',
  description: 'show one redemption: timeline, calls, payout, confirmation, what it waits for',
  arguments: [REDEMPTION],
  options: [JSON_LINE],
  note: '\nThe chain is asked too where CHAIN_ID, RPC_URLS, FINALITY and TOKEN_CONTRACT are set.',
  settings: OperatorSettings,
  async action(call, { id }: { readonly id: UuidV7 }) {
    const { history, partnerName } = await call.withDatabase(async (database) => {
      const found = await new RedemptionViews(database).show(id);
      if (found === undefined) throw new RedemptionMissingError(id);
      const partner = await new PartnerStore(database).identify(found.redemption.partner);
      return { history: found, partnerName: partner?.partnerName ?? 'unknown' };
    });
    const live = await chainEvidence(history, call.source, call.clock);
    const nowMs = call.clock.nowMs();
    call.print(
      { ...history, partnerName, waitsFor: waitsFor(history, nowMs), chain: live },
      showText({ history, partnerName, live }, nowMs),
    );
  },
});

/** Open redemptions of before EVIDENCE_KEY get their MAC, once a person has looked at them. */
const adopt = command({
  name: 'adopt',
  description: 'vouch for open redemptions that were written without EVIDENCE_KEY',
  options: [AS, YES],
  settings: AdoptSettings,
  async action(call) {
    const keys = evidenceKeys(call);
    await call.withDatabase(async (database) => {
      const adoption = new EvidenceAdoption(database, keys);
      const foreign = await adoption.foreign();
      if (foreign.length === 0) {
        call.terminal.out('Every open redemption bears the MAC of the service.\n');
        return;
      }
      // Read where the redemption service may read them too.
      const callbacks = await new CallbackStore(database).list();
      const names = callbacks.map(
        ({ partnerId, partnerName }) => [partnerId, partnerName] as const,
      );
      call.terminal.out(foreignText(foreign, new Map(names)));
      await call.confirm(
        'Each of these can be paid, or its deduction reverted as it is named, once it is adopted.',
      );
      let adopted = 0;
      for (const one of foreign) {
        if (await adoption.adopt(one, call.actor)) adopted += 1;
      }
      call.terminal.out(`Adopted ${adopted} of ${foreign.length}.\n`);
    });
  },
});

function foreignText(
  foreign: readonly StoredRedemption[],
  names: ReadonlyMap<string, string>,
): string {
  return table(
    ['REDEMPTION', 'STATE', 'PARTNER', 'WALLET', 'POINTS', 'TOKENS', 'TRANSACTION'],
    foreign.map(({ redemption }) => [
      redemption.id,
      redemption.state,
      printable(names.get(redemption.partner) ?? redemption.partner),
      redemption.wallet,
      redemption.points.toString(),
      tokensText(redemption),
      redemption.partnerTransactionId ?? '-',
    ]),
  );
}

export const redemptionCommands: CommandGroup = {
  name: 'redemption',
  description: 'redemptions, and what only a person can settle',
  commands: [list, show, retry, setPartnerTx, resolve, cancel, replayConfirm, adopt],
};
