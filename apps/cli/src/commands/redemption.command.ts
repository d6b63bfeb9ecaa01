import { Option } from 'commander';
import {
  type Database,
  type LoggedCall,
  type LoggedTransition,
  type RedemptionHistory,
} from '#libs/db';
import {
  type Address,
  type PartnerId,
  REDEMPTION_STATES,
  type RedemptionState,
  type UuidV7,
} from '#libs/domain';
import {
  adoptRedemptions,
  chainEvidence,
  CONSEQUENCES,
  duration,
  evidenceKeys,
  isAdoptable,
  type ListedRedemption,
  type LiveEvidence,
  moment,
  OptionError,
  payoutFields,
  printable,
  redemptionsWithoutMac,
  type RedemptionWithoutMac,
  resolvePartner,
  searchRedemptions,
  type ShownRedemption,
  showRedemption,
  standingFields,
  tokensText,
  waitsFor,
} from '#libs/operations';
import { AdoptSettings, OperatorSettings } from '../cli.env.js';
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
import { type Field, fieldLines, table } from '../output/text.js';

const HEAD = ['ID', 'STATE', 'FOR', 'PARTNER', 'WALLET', 'POINTS', 'TOKENS', 'REASON'];

interface ListGiven {
  readonly attention?: true;
  readonly state?: RedemptionState;
  readonly partner?: string;
  readonly wallet?: Address;
}

const list = command({
  name: 'list',
  description: 'list redemptions, the newest first',
  options: [
    option('--attention', 'those that need attention, the longest first'),
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
  async action(call, { state, partner, wallet: user, ...given }: ListGiven) {
    const attention = given.attention === true;
    const { listed, unreadable } = await call.withDatabase(async (database) =>
      searchRedemptions(database, {
        state: attention ? 'attention' : state,
        partner: partner === undefined ? undefined : await idOf(database, partner),
        wallet: user,
        limit: call.limit,
        first: attention ? 'longest' : 'newest',
      }),
    );
    for (const { message } of unreadable) call.terminal.err(`${message}\n`);
    const json = listed.map(({ redemption, partnerName }) => ({ ...redemption, partnerName }));
    const text = listText(listed, call.clock.nowMs());
    call.printList(json, text, listed.length + unreadable.length);
  },
});

async function idOf(database: Database, reference: string): Promise<PartnerId> {
  return (await resolvePartner(database, reference)).partnerId;
}

function listText(listed: readonly ListedRedemption[], nowMs: number): string {
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

const show = command({
  name: 'show',
  description: 'show one redemption: timeline, calls, payout, confirmation, what it waits for',
  arguments: [REDEMPTION],
  options: [JSON_LINE],
  note: '\nThe chain is asked too where CHAIN_ID, RPC_URLS, FINALITY and TOKEN_CONTRACT are set.',
  settings: OperatorSettings,
  async action(call, { id }: { readonly id: UuidV7 }) {
    const shown = await call.withDatabase(showRedemption, id);
    const { history, partnerName } = shown;
    const live = await chainEvidence(history, call.source, call.clock);
    const nowMs = call.clock.nowMs();
    call.print(
      { ...history, partnerName, waitsFor: waitsFor(history, nowMs), chain: live },
      showText({ ...shown, live }, nowMs),
    );
  },
});

interface Shown extends ShownRedemption {
  readonly live: LiveEvidence;
}

function showText(shown: Shown, nowMs: number): string {
  const { history } = shown;
  return [
    fieldLines(standingFields(shown, nowMs)),
    'Timeline\n' + timeline(history.transitions),
    'Calls to the partner\n' + calls(history.calls),
    'Payout\n' + fieldLines(payoutFields(history, shown.live), '  '),
    'Confirmation\n' + fieldLines(confirmationFields(history), '  '),
  ].join('\n');
}

function timeline(transitions: readonly LoggedTransition[]): string {
  const rows = transitions.map(({ version, event, from, to, reason, actor, at }) => [
    moment(at) ?? '',
    String(version),
    event,
    from === null || from === to ? to : `${from} -> ${to}`,
    reason ?? '',
    actor,
  ]);
  return table(['AT', 'VERSION', 'EVENT', 'STATE', 'REASON', 'BY'], rows);
}

function calls(logged: readonly LoggedCall[]): string {
  if (logged.length === 0) return '  none\n';
  const rows = logged.map(({ requestId, step, begunAt, end }) => {
    const record = (end?.record ?? {}) as Readonly<Record<string, unknown>>;
    const timings = record['timings'] as { readonly total?: number } | undefined;
    return [
      moment(begunAt) ?? '',
      step,
      requestId,
      end === null ? 'end not known' : end.outcome,
      textOf(record['status']),
      textOf(record['verdict'] ?? record['cause']),
      timings?.total === undefined ? '' : `${timings.total} ms`,
      textOf(record['excerpt'] ?? record['error']).slice(0, 160),
    ];
  });
  return table(
    ['BEGUN', 'STEP', 'REQUEST', 'OUTCOME', 'STATUS', 'VERDICT', 'TOOK', 'ANSWER'],
    rows,
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function confirmationFields({ confirmation }: RedemptionHistory): Field[] {
  if (confirmation === null) return [['owed', 'none']];
  return [
    ['state', confirmation.state],
    ['attempts', String(confirmation.attempts)],
    ['next attempt', moment(confirmation.nextActionAt)],
    ['delivered', moment(confirmation.deliveredAt)],
    ['given up', moment(confirmation.undeliveredAt)],
    ['payload', confirmation.payload],
  ];
}

const adopt = command({
  name: 'adopt',
  description: 'vouch for open redemptions that were written without EVIDENCE_KEY',
  options: [AS, YES],
  settings: AdoptSettings,
  async action(call) {
    const keys = evidenceKeys(call.settings);
    await call.withDatabase(async (database) => {
      const foreign = await redemptionsWithoutMac(database, keys);
      if (foreign.length === 0) {
        call.terminal.out('Every open redemption bears the MAC of the service.\n');
        return;
      }
      call.terminal.out(foreignText(foreign));
      await call.confirm(CONSEQUENCES['redemption adopt']);
      const adopted = await adoptRedemptions(database, keys, foreign, call.operator);
      call.terminal.out(`Adopted ${adopted} of ${foreign.length}.\n`);
      const left = foreign
        .filter((one) => !isAdoptable(one))
        .map(({ redemption }) => redemption.id);
      if (left.length > 0) {
        call.terminal.out(
          `Not adopted, and not paid, because the wallet has no holder: ${left.join(', ')}.\n`,
        );
      }
    });
  },
});

function foreignText(foreign: readonly RedemptionWithoutMac[]): string {
  return table(
    ['REDEMPTION', 'STATE', 'PARTNER', 'WALLET', 'POINTS', 'TOKENS', 'TRANSACTION'],
    foreign.map(({ redemption, partnerName }) => [
      redemption.id,
      redemption.state,
      printable(partnerName),
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
