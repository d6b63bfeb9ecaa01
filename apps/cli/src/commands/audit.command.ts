import { Option } from 'commander';
import {
  readSettings,
  RPC_URLS_SETTING,
  sessionUrl,
  Setting,
  STAKE_EVENTS_SETTING,
} from '#libs/config';
import {
  type AuditComparison,
  type AuditDifference,
  type AuditRun,
  type IndexState,
  type SumsOfIndex,
} from '#libs/db';
import { auditNow, lastAudits, moment, tokensText } from '#libs/operations';
import {
  agrees,
  agreesWithContract,
  AuditImpossibleError,
  type AuditResult,
  sumsAgree,
} from '#libs/verification';
import { StakeSetSettings } from '../cli.env.js';
import { type Call, command, CommandFailed, withDatabase } from '../command.js';
import { expecting, JSON_LINE, ON_STAKE_SET, option } from '../options.js';
import { progressOf } from '../output/progress.js';
import { type Field, fieldLines, table } from '../output/text.js';

const MOST = 100_000;

/** The settings of commands that compare an index with the chain; the contracts come from the index. */
export class AuditSettings extends StakeSetSettings {
  @Setting(RPC_URLS_SETTING)
  readonly rpcUrls!: string[];

  @Setting({ ...STAKE_EVENTS_SETTING, optional: true })
  readonly stakeEvents?: string;
}

interface Given {
  readonly wallets: number | 'all';
  readonly block: bigint | 'finalised';
  readonly last?: true;
}

const walletCount = expecting(`all, or a number from 1 to ${MOST}.`, (text) => {
  if (text === 'all') return text;
  const count = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  return count >= 1 && count <= MOST ? count : undefined;
});

const block = expecting('a number, or finalised.', (text) => {
  if (text === 'finalised' || text === 'finalized') return 'finalised';
  return /^\d{1,18}$/.test(text) ? BigInt(text) : undefined;
});

/** Compares the index with itself and with the contract's own figures; fails where they differ. */
export const auditCommand = command({
  name: 'audit',
  description:
    'compare the sums of the index with its stored total, and its balances and their sum with the contract’s own, at one block',
  options: [
    option('--wallets <number>', `how many, drawn at random, or all`, walletCount, 200),
    option('--block <block>', 'a final block, or finalised: the newest one', block, 'finalised'),
    new Option('--last', 'show the last nightly audit instead').conflicts(['wallets', 'block']),
    ON_STAKE_SET,
    JSON_LINE,
  ],
  note: '\nThe sum is that of all wallets in any case. Old blocks need an endpoint with their state.',
  action: (call, given: Given) => (given.last === true ? showLast(call) : compare(call, given)),
});

async function compare(call: Call, { block: at, wallets }: Given): Promise<void> {
  const { terminal, clock } = call;
  const settings = readSettings(AuditSettings, call.source);
  const onProgress = progressOf(terminal, clock);
  const { result, state } = await withDatabase(
    sessionUrl(settings),
    (database) => auditNow({ database, clock, settings }, { block: at, wallets, onProgress }),
    settings.stakeSet,
  );
  const { tokenDecimals, tokenSymbol } = state;
  call.print(
    { ...result, agrees: agrees(result), tokenDecimals, tokenSymbol },
    auditText(result, state),
  );
  if (!agrees(result)) throw new CommandFailed();
}

/** Shows the indexer's last nightly audit; fails where it found a difference. */
async function showLast(call: Call): Promise<void> {
  const settings = readSettings(StakeSetSettings, call.source);
  const { state, last, compared } = await withDatabase(
    sessionUrl(settings),
    lastAudits,
    settings.stakeSet,
  );
  if (last === undefined) {
    throw new AuditImpossibleError(
      'The indexer has made no audit yet: see AUDIT_HOUR_UTC, or leave out --last.',
    );
  }
  const { tokenDecimals, tokenSymbol } = state;
  call.print(
    { last, compared: compared ?? null, tokenDecimals, tokenSymbol },
    lastRunText(last, compared, state),
  );
  if (compared?.result === 'different') throw new CommandFailed();
}

const MOST_SHOWN = 50;

/** Text with both figures of every difference, in whole tokens. */
function auditText(result: AuditResult, state: IndexState): string {
  const { block, differences } = result;
  const tokens = tokensOf(state);
  const fields = fieldLines([
    ['block', `${block.number} of ${moment(block.timestampSeconds * 1000) ?? ''}  ${block.hash}`],
    ...figureFields({ ...result, differences: differences.length }, state),
    ['contract not asked', result.notAsked],
  ]);
  const more = differences.length - MOST_SHOWN;
  return [
    fields,
    differenceTable(differences, tokens),
    ...(more > 0 ? [`… and ${more} more: --json has them all.\n`] : []),
    `\n${verdict(result, tokens)}\n`,
  ].join('');
}

/** The last nightly audit, and the last audit that could compare, if the last one could not. */
function lastRunText(
  last: AuditRun,
  compared: AuditComparison | undefined,
  state: IndexState,
): string {
  const when = fieldLines([
    ['started', moment(last.startedAt)],
    ['finished', moment(last.finishedAt)],
    ['result', last.result],
    ['reason', last.result === 'impossible' ? last.reason : undefined],
  ]);
  if (compared === undefined) return when;
  const { blockNumber, blockHash, indexedTotal: indexed, contractTotal: contract } = compared;
  const figures = fieldLines([
    ['compared at', last.result === 'impossible' ? moment(compared.startedAt) : undefined],
    ['block', `${blockNumber}  ${blockHash}`],
    ...figureFields({ ...compared, total: { indexed, contract } }, state),
  ]);
  return `${when}\n${figures}${differenceTable(compared.different, tokensOf(state))}`;
}

type Tokens = (amount: bigint) => string;

function tokensOf({ tokenDecimals }: IndexState): Tokens {
  return (tokenAmount) => tokensText({ tokenAmount, tokenDecimals });
}

interface Figures {
  readonly wallets: number;
  readonly compared: number | undefined;
  readonly differences: number;
  readonly total: AuditResult['total'];
  readonly sums: SumsOfIndex;
}

function figureFields(
  { wallets, compared, differences, total, sums }: Figures,
  state: IndexState,
): Field[] {
  const tokens = tokensOf(state);
  const unit = state.tokenSymbol;
  return [
    ['wallets', `${wallets} in the index, ${compared ?? 'none'} compared`],
    ['different', compared === undefined ? undefined : String(differences)],
    ['sum of the index', `${tokens(total.indexed)} ${unit}`],
    [
      'contract’s total',
      total.contract === undefined ? 'not told' : `${tokens(total.contract)} ${unit}`,
    ],
    ...sumFields(sums, (amount) => `${tokens(amount)} ${unit}`),
  ];
}

function sumFields({ stored, closings, balances }: SumsOfIndex, text: Tokens): Field[] {
  return [
    ['stored total', text(stored)],
    ['sum of closings', text(closings)],
    ['sum of changes', text(balances)],
  ];
}

function differenceTable(differences: readonly AuditDifference[], tokens: Tokens): string {
  if (differences.length === 0) return '';
  const rows = differences
    .slice(0, MOST_SHOWN)
    .map(({ wallet, indexed, contract }) => [
      wallet,
      tokens(indexed),
      tokens(contract),
      signed(indexed - contract, tokens),
    ]);
  return `\n${table(['WALLET', 'INDEX', 'CONTRACT', 'INDEX HAS MORE'], rows)}`;
}

function verdict(result: AuditResult, tokens: Tokens): string {
  const { total, compared } = result;
  if (agrees(result)) {
    const parts = [
      ...(compared === undefined ? [] : ['the balances']),
      ...(total.contract === undefined ? [] : ['the sum']),
    ];
    return `The index and the contract agree: ${parts.join(' and ')}.`;
  }
  const { stored, closings, balances } = result.sums;
  const own = sumsAgree(result.sums)
    ? ''
    : `ALERT: the index does not add up to its stored total: the closings are off by ${signed(closings - stored, tokens)}, the balance changes by ${signed(balances - stored, tokens)}. See docs/operating/troubleshooting.md#audit.`;
  if (agreesWithContract(result)) return own;
  const off =
    total.contract === undefined || total.contract === total.indexed
      ? ''
      : ` The sum is off by ${signed(total.indexed - total.contract, tokens)}.`;
  const contract = `ALERT: the index and the contract differ.${off} See docs/operating/troubleshooting.md#audit.`;
  return own === '' ? contract : `${own}\n${contract}`;
}

function signed(amount: bigint, tokens: Tokens): string {
  return amount < 0n ? `-${tokens(-amount)}` : `+${tokens(amount)}`;
}
