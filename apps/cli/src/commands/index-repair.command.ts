import { Option } from 'commander';
import { readSettings, sessionUrl } from '#libs/config';
import { type Findings } from '#libs/db';
import { type Address, dayText } from '#libs/domain';
import {
  applyRepair,
  completeRepairs,
  isRight,
  moment,
  OptionError,
  planRepair,
  type RepairContext,
  type RepairDone,
  type RepairPlan,
  tokensText,
} from '#libs/operations';
import { type Call, command, CommandFailed, withDatabase } from '../command.js';
import { AS, expecting, JSON_LINE, ON_STAKE_SET, option, walletList, YES } from '../options.js';
import { withProgress } from '../output/progress.js';
import { fieldLines, table } from '../output/text.js';
import { AuditSettings } from './audit.command.js';

interface Given {
  readonly wallet?: readonly Address[];
  readonly all?: true;
  readonly apply?: true;
  readonly reason?: string;
}

const LONGEST_REASON = 500;

const reason = expecting(`1 to ${LONGEST_REASON} characters on one line.`, (text) =>
  /^[^\p{C}]{1,500}$/u.test(text.trim()) ? text.trim() : undefined,
);

/** Compares rows of the index with the chain, and repairs them on demand; fails while something differs. */
export const indexRepairCommand = command({
  name: 'repair',
  description: 'compare wallets with the chain, read again, and repair what differs with --apply',
  options: [
    option(
      '--wallet <addresses>',
      'wallets, separated by commas (default: those that a check has found)',
      walletList,
    ),
    new Option('--all', 'all wallets').conflicts('wallet'),
    new Option('--apply', 'repair, seal the days again, and tell the partners'),
    option('--reason <text>', 'with --apply: what was wrong; partners read it', reason),
    ON_STAKE_SET,
    AS,
    YES,
    JSON_LINE,
  ],
  note: '\nWithout --apply nothing is changed. All events since STAKE_START_BLOCK are read.\nWith the owner’s DATABASE_URL, as for `migrate`.',
  check({ apply, reason: given }: Given) {
    if (apply === true && given === undefined) {
      throw new OptionError('--apply needs --reason: partners read it.');
    }
  },
  action: repair,
});

async function repair(call: Call, given: Given): Promise<void> {
  const { terminal, clock } = call;
  const settings = readSettings(AuditSettings, call.source);
  const { stakeSet } = settings;
  const asked: Findings | undefined = given.all === true ? 'all' : given.wallet;
  await withDatabase(
    sessionUrl(settings),
    async (database) => {
      const context = { database, stakeSet, clock, settings };
      const earlier =
        given.apply === true
          ? await withProgress(terminal, (onProgress) =>
              completeRepairs({ ...context, onProgress }),
            )
          : [];
      if (earlier.length > 0) terminal.err(toldText(earlier));
      const plan = await withProgress(terminal, (onProgress) =>
        planRepair({ ...context, onProgress }, asked),
      );
      if (given.apply !== true) {
        call.print(planJson(plan), planText(plan));
        if (!isRight(plan)) throw new CommandFailed();
        return;
      }
      if (!isRight(plan)) await confirm(call, plan);
      const done = await withProgress(terminal, (onProgress) =>
        apply(call, { ...context, onProgress }, { plan, reason: given.reason ?? '' }),
      );
      call.print({ ...planJson(plan), ...done }, `${planText(plan)}${doneText(done, plan)}`);
    },
    stakeSet,
  );
}

function apply(
  { operator }: Call,
  context: RepairContext,
  { plan, reason: given }: { readonly plan: RepairPlan; readonly reason: string },
): Promise<RepairDone> {
  return applyRepair(context, plan, { operator, reason: given });
}

async function confirm(call: Call, plan: RepairPlan): Promise<void> {
  call.terminal.err(planText(plan));
  await call.confirm(
    `The rows of ${plan.wrong.length} wallets are replaced. The indexer goes back to block ${plan.block.number} and reads on. Sealed days get new revisions, and partners are told.`,
  );
}

function planJson({ state, block, checked, wrong, total, totalOff, wrongDayTotals }: RepairPlan) {
  const { tokenSymbol, tokenDecimals } = state;
  return {
    block,
    checked: checked === 'all' ? checked : checked.length,
    wrong: wrong.map(({ wallet, days, difference }) => ({ wallet, days, ...difference })),
    ...{ total, totalOff, wrongDayTotals, tokenSymbol, tokenDecimals },
  };
}

const MOST_SHOWN = 50;

function planText(plan: RepairPlan): string {
  const { block, checked, wrong, totalOff, wrongDayTotals, state } = plan;
  const tokens = tokensOf(plan);
  const days = wrong.flatMap((one) => one.days);
  const count = days.reduce((sum, { firstDay, lastDay }) => sum + lastDay - firstDay + 1, 0);
  const fields = fieldLines([
    ['block', `${block.number} of ${moment(block.timestampSeconds * 1000) ?? ''}`],
    ['compared', checked === 'all' ? 'all wallets' : `${checked.length} wallets`],
    ['different', `${wrong.length} wallets, ${count} days with another amount`],
    ['total', totalOff === 0n ? 'right' : `off by ${tokens(totalOff)} ${state.tokenSymbol}`],
    ['sums of days', wrongDayTotals === 0 ? 'right' : `${wrongDayTotals} wrong`],
  ]);
  if (isRight(plan)) return `${fields}\nThe index agrees with the chain.\n`;
  return [fields, dayTable(plan), changeTable(plan)].join('');
}

/** Wrong rows of days; the low is absent if the closing balance held all day. */
function dayTable(plan: RepairPlan): string {
  const tokens = tokensOf(plan);
  const low = (row: DayRow) => (row === undefined ? '-' : row.low === null ? '=' : tokens(row.low));
  const closing = (row: DayRow) => (row === undefined ? '-' : tokens(row.closing));
  const rows = plan.wrong.flatMap(({ wallet, difference: { remove, add } }) =>
    keysOf([...remove.days, ...add.days], ({ day }) => day).map((day) => {
      const stored = remove.days.find((one) => one.day === day);
      const right = add.days.find((one) => one.day === day);
      return [wallet, dayText(day), low(stored), low(right), closing(stored), closing(right)];
    }),
  );
  const head = ['WALLET', 'DAY', 'LOW STORED', 'BY THE CHAIN', 'CLOSING STORED', 'BY THE CHAIN'];
  return listed(head, rows);
}

type DayRow = { readonly low: bigint | null; readonly closing: bigint } | undefined;

function changeTable(plan: RepairPlan): string {
  const tokens = tokensOf(plan);
  const rows = plan.wrong.flatMap(({ wallet, difference: { remove, add } }) =>
    keysOf([...remove.changes, ...add.changes], ({ blockNumber }) => blockNumber).map((block) => {
      const stored = remove.changes.find(({ blockNumber }) => blockNumber === block);
      const right = add.changes.find(({ blockNumber }) => blockNumber === block);
      const balances = [stored, right].map((one) => (one ? tokens(one.balance) : '-'));
      return [wallet, String(block), ...balances];
    }),
  );
  return listed(['WALLET', 'BLOCK', 'BALANCE STORED', 'BY THE CHAIN'], rows);
}

function listed(head: readonly string[], rows: readonly string[][]): string {
  if (rows.length === 0) return '';
  const more = rows.length - MOST_SHOWN;
  const rest = more > 0 ? `… and ${more} more: --json has them all.\n` : '';
  return `\n${table(head, rows.slice(0, MOST_SHOWN))}${rest}`;
}

function keysOf<T, K extends bigint | number>(rows: readonly T[], keyOf: (row: T) => K): K[] {
  return [...new Set(rows.map(keyOf))].sort((a, b) => (a < b ? -1 : 1));
}

function tokensOf({ state: { tokenDecimals } }: RepairPlan): (amount: bigint) => string {
  return (tokenAmount) => tokensText({ tokenAmount, tokenDecimals });
}

function doneText({ repaired, told }: RepairDone, plan: RepairPlan): string {
  if (isRight(plan)) return toldText(told);
  const what = repaired === 0 ? 'Corrected the sums' : `Repaired ${repaired} wallets`;
  return `\n${what}. The indexer reads on from block ${plan.block.number}, and seals the days again within ten minutes.\n${toldText(told)}`;
}

function toldText(told: RepairDone['told']): string {
  const rows = told.flatMap(({ correction, partners }) =>
    partners.map(({ partnerId, answers, mayBeWrong }) => [
      ...[correction, partnerId, String(answers), String(mayBeWrong)],
    ]),
  );
  return listed(['CORRECTION', 'PARTNER', 'WRONG ANSWERS', 'MAY BE WRONG'], rows);
}
