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
  parseUuidV7,
  type UuidV7,
} from '#libs/domain';
import {
  AdoptRedemptions,
  asCommand,
  CancelRedemption,
  chainEvidence,
  duration,
  evidenceOf,
  type ListedRedemption,
  type LiveEvidence,
  moment,
  type Operated,
  operatedText,
  OptionError,
  payoutFields,
  printable,
  redemptionsWithoutMac,
  type RedemptionWithoutMac,
  ReplayConfirmation,
  resolvePartner,
  ResolveRedemption,
  RetryRedemption,
  searchRedemptions,
  SetPartnerTransaction,
  type ShownRedemption,
  showRedemption,
  standingFields,
  tokensText,
  waitsFor,
} from '#libs/operations';
import { OperatorSettings } from '../cli.env.js';
import { type Call, command, type CommandGroup } from '../command.js';
import { commandOf } from '../operation-command.js';
import { argument, expecting, JSON_LINE, LIMIT, option, wallet } from '../options.js';
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

const REDEMPTION = argument(
  '<id>',
  'the redemption',
  expecting('the id of a redemption, a UUID of version 7.', parseUuidV7),
);

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

const adopt = commandOf(AdoptRedemptions, {
  async prepare(call, context) {
    const seal = evidenceOf(context, AdoptRedemptions.spec.command);
    const foreign = await redemptionsWithoutMac(context.database, seal);
    call.terminal.out(
      foreign.length === 0
        ? 'Every open redemption bears the MAC of the service.\n'
        : foreignText(foreign),
    );
    if (foreign.length === 0) return undefined;
    return { redemptions: foreign.map(({ redemption: { id, version } }) => ({ id, version })) };
  },
  print({ terminal }, { adopted, unheld }, { redemptions }) {
    terminal.out(`Adopted ${adopted} of ${redemptions.length}.\n`);
    if (unheld.length > 0) {
      terminal.out(
        `Not adopted, and not paid, because the wallet has no holder: ${unheld.join(', ')}.\n`,
      );
    }
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

const print = ({ terminal }: Call, operated: Operated): void => {
  const { moved, next } = operatedText(operated, asCommand);
  terminal.out(`${moved}\n${next}\n`);
};

export const redemptionCommands: CommandGroup = {
  name: 'redemption',
  description: 'redemptions, and what only a person can settle',
  commands: [
    list,
    show,
    ...[RetryRedemption, SetPartnerTransaction, ResolveRedemption, CancelRedemption].map((type) =>
      commandOf<InstanceType<typeof type>>(type, { print }),
    ),
    commandOf(ReplayConfirmation, {
      print({ terminal }, _, { id }) {
        terminal.out(`The confirmation of redemption ${id} is sent again at once.\n`);
      },
    }),
    adopt,
  ],
};
