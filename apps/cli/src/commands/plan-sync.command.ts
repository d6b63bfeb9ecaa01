import {
  callsInAll,
  COMPUTE_UNITS,
  PRICE_LISTS,
  RpcPool,
  SYNC_METHODS,
  unitsFor,
} from '#libs/chain';
import { duration } from '#libs/operations';
import { command } from '../command.js';
import { JSON_LINE, ON_STAKE_SET, option } from '../options.js';
import { withProgress } from '../output/progress.js';
import { fieldLines, table } from '../output/text.js';
import { PlanSettings } from '../plan/missing-part.js';
import { planSync, type SyncPlan } from '../plan/plan-sync.js';
import { MIN_SAMPLED_SHARE, type LogSurvey } from '../plan/survey-logs.js';

const TIMEOUT_MS = 15_000;

/** Estimates the cost of a first sync or the rest of one, with some twenty requests to the chain; changes nothing. */
export const planSyncCommand = command({
  name: 'plan-sync',
  description: 'say what a sync will read and cost before it is begun: calls, units, time',
  options: [
    option('--anew', 'as if nothing was indexed yet: for a reindexing'),
    ON_STAKE_SET,
    JSON_LINE,
  ],
  note: '\nWith the settings of the indexer. With DATABASE_URL and an index there, only what is missing is counted.',
  settings: PlanSettings,
  async action(call, { anew = false }: { readonly anew?: boolean }) {
    const { settings, clock } = call;
    const pool = new RpcPool({ urls: settings.rpcUrls, clock, timeoutMs: TIMEOUT_MS });
    const plan = await withProgress(call.terminal, (onProgress) =>
      planSync(pool, settings, { anew, onProgress }),
    );
    const units = PRICE_LISTS.map(({ name, perCall }) => [name, unitsFor(plan.calls, perCall)]);
    call.print({ ...plan, units: Object.fromEntries(units) as object }, planText(plan));
  },
});

/** Budgets of common plans, in compute units per second. */
export const BUDGETS = [300, 500, 1000] as const;

/** Formats a number with groups of three digits. */
export function grouped(count: number): string {
  return Math.round(count).toLocaleString('en-US');
}

function planText(plan: SyncPlan): string {
  const { verification, survey } = plan;
  const head = fieldLines([
    ['chain', `${plan.chainId}, newest block ${plan.latestBlock}, newest final ${plan.finalBlock}`],
    ['index', indexed(plan)],
    ['to read', toRead(plan)],
    ['verification', `${verification.mode}. ${verification.reason}`],
    ['cannot find', verification.cannotFind],
    ['ranges', survey && ranges(survey, plan)],
    ['events', survey && density(survey)],
    ['', survey && densityWarning(survey, plan)],
  ]);
  if (survey === undefined) return `${head}\nNothing is missing: a sync has nothing to read.\n`;
  return [head, '\n', costTable(plan), '\n', times(plan, survey), warning(plan)].join('');
}

function indexed({ indexedBlock, startBlock }: SyncPlan): string {
  return indexedBlock === undefined
    ? `counted from its first block, ${startBlock}`
    : `from block ${startBlock} to ${indexedBlock}; only what is missing is counted`;
}

function toRead({ finalBlocks, tipBlocks }: SyncPlan): string {
  const all = grouped(finalBlocks + tipBlocks);
  return `${all} blocks: ${grouped(finalBlocks)} final, ${grouped(tipBlocks)} above`;
}

function ranges({ places, refusal }: LogSurvey, { rangeBlocks, rangeLimit }: SyncPlan): string {
  const why = {
    setting: 'as MAX_RANGE_BLOCKS allows',
    provider: `as more was refused: ${refusal ?? ''}`,
    weight: 'as more would be too heavy an answer',
  };
  const asked = `${places} ${places === 1 ? 'place' : 'places'} asked`;
  return `${grouped(rangeBlocks)} blocks at once (${asked}), ${why[rangeLimit]}`;
}

function density({ blocks, events, counted, eventBlocks, wallets }: LogSurvey): string {
  const dense = grouped((eventBlocks / blocks) * 10_000);
  const left = events - counted;
  const not = left > 0 ? `, ${grouped(left)} of them not counted by STAKE_EVENTS,` : '';
  return `${grouped(events)}${not} of ${grouped(wallets)} wallets in ${grouped(eventBlocks)} of the ${grouped(blocks)} blocks looked at: ${dense} blocks with events in 10,000`;
}

/** A reason to distrust the density, if any. */
function densityWarning(
  { blocks, events, counted }: LogSurvey,
  { finalBlocks, tipBlocks }: SyncPlan,
): string | undefined {
  if (events > 0 && counted === 0) {
    return 'WARNING: STAKE_EVENTS counts none of them. Check its conditions, such as the number of a pool.';
  }
  const share = blocks / (finalBlocks + tipBlocks);
  if (share >= MIN_SAMPLED_SHARE / 2) return undefined;
  const percent = (share * 100).toPrecision(2);
  return `WARNING: these are ${percent} % of the missing blocks: the others may hold far more events, or fewer.`;
}

function costTable({ calls }: SyncPlan): string {
  const head = ['METHOD', 'CALLS', ...PRICE_LISTS.map(({ name }) => name.toUpperCase())];
  const rows = SYNC_METHODS.filter((method) => calls[method] > 0).map((method) => [
    method,
    grouped(calls[method]),
    ...PRICE_LISTS.map(({ perCall }) => grouped(calls[method] * perCall[method])),
  ]);
  const sums = PRICE_LISTS.map(({ perCall }) => grouped(unitsFor(calls, perCall)));
  return table(head, [...rows, ['all', grouped(callsInAll(calls)), ...sums]]);
}

function times(plan: SyncPlan, { rangeSeconds }: LogSurvey): string {
  const units = unitsFor(plan.calls, COMPUTE_UNITS.perCall);
  const budget = plan.isBoundByBudget ? ', within the budgets of RPC_URLS' : '';
  const seen = `at the rate seen (${Math.round(rangeSeconds * 1000)} ms a range, 16 at once${budget})`;
  return fieldLines([
    [`time ${seen}`, duration(plan.secondsAtRateSeen * 1000)],
    ...BUDGETS.map((budget): [string, string] => [
      `time at ${grouped(budget)} compute units a second`,
      duration((units / budget) * 1000),
    ]),
  ]);
}

function warning({ calls, insteadOfHeaders }: SyncPlan): string {
  if (insteadOfHeaders === undefined) return '';
  const units = unitsFor(calls, COMPUTE_UNITS.perCall);
  const { two, total } = insteadOfHeaders;
  return `\nALERT: every header of the history is read, for ${grouped(units)} compute units. A second provider in RPC_URLS makes it ${grouped(two)}, a total that can be read at past blocks (STAKE_TOTAL_VIEW) ${grouped(total)}.\n`;
}
