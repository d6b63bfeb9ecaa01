/** The two ways back for an index that is wrong: back to a block, or made again. */
import { Option } from 'commander';
import { ChainReader, RpcPool } from '#libs/chain';
import { sessionUrl } from '#libs/config';
import { IndexMissingError, IndexStore, LeaderLock, leaderLockOf, RedemptionViews } from '#libs/db';
import {
  counted,
  type IndexComparison,
  moment,
  planRewind,
  rewindIndex,
  type RewindPlan,
  settingText,
  tokensText,
} from '#libs/operations';
import { type AgainPlan, IndexAgain } from '../again/index-again.js';
import { IndexCommandSettings, indexerUrl, newIndexSettings } from '../again/index-settings.js';
import { type Call, command, withDatabase } from '../command.js';
import { indexRepairCommand } from './index-repair.command.js';
import { AS, expecting, ON_STAKE_SET, option, YES } from '../options.js';
import { withProgress } from '../output/progress.js';
import { fieldLines, table } from '../output/text.js';

const TIMEOUT_MS = 15_000;
const DAY_MS = 86_400_000;
const DRY_RUN = option('--dry-run', 'say what it would do, and change nothing');
const NOTE =
  '\nWith the settings of the indexer, and the owner’s DATABASE_URL as for `migrate` (SERVICE_DATABASE_URLS: also the indexer’s).';

const blockNumber = expecting('the number of a block.', (text) =>
  /^\d{1,18}$/.test(text) ? BigInt(text) : undefined,
);

interface RewindGiven {
  readonly to?: bigint;
  readonly dryRun?: true;
}

const rewindCommand = command({
  name: 'rewind',
  description: 'take the index back to a block, final or not; the indexer reads on from there',
  options: [
    option('--to <block>', 'default: the newest block that index and chain share', blockNumber),
    DRY_RUN,
    YES,
    AS,
    ON_STAKE_SET,
  ],
  note: NOTE,
  settings: IndexCommandSettings,
  async action(call, { to, dryRun }: RewindGiven) {
    const { settings, terminal } = call;
    const { stakeSet } = settings;
    await withDatabase(
      sessionUrl(settings),
      async (database) => {
        const { plan, context } = await withProgress(terminal, async (isAt) => {
          isAt('Comparing the index with the chain');
          const state = await new IndexStore(database).state();
          if (state === undefined) throw new IndexMissingError();
          const reader = await readerOf(call, state.chainId);
          const context = { database, stakeSet, reader };
          return { context, plan: await planRewind(context, state, to) };
        });
        terminal.out(rewindText(plan));
        if (dryRun === true) return;
        await call.confirm(
          'All of this is taken back, and read from the chain again. Until then the api answers 503 for newer days.',
        );
        const options = { url: indexerUrl(settings), applicationName: 'lowmark index rewind' };
        const lock = new LeaderLock(options, leaderLockOf(stakeSet));
        const { operator } = call;
        const { head, changes } = await withProgress(terminal, (onProgress) =>
          rewindIndex(context, plan, { lock, operator, onProgress }),
        );
        terminal.out(
          `The index ends at block ${head.number}; ${counted(changes, 'change')} taken back. The indexer reads on from there.\n`,
        );
      },
      stakeSet,
    );
  },
});

interface AgainGiven {
  readonly dryRun?: true;
  readonly compareOnly?: true;
  readonly undo?: true;
  readonly dropOld?: true;
}

const UNDONE =
  'The index before is used again, and the one that replaced it is removed. Before the exchange only the new index is removed.';
const DROPPED = 'The index before is removed: there is no way back to it.';

const againCommand = command({
  name: 'again',
  description: 'make a new index beside the one in use, compare them, and exchange them',
  options: [
    DRY_RUN,
    option('--compare-only', 'stop before the exchange; without this option it goes on'),
    new Option(
      '--undo',
      'go back to the index before; before the exchange: remove the new one',
    ).conflicts(['dryRun', 'compareOnly', 'dropOld']),
    new Option('--drop-old', 'remove the index before').conflicts(['dryRun', 'compareOnly']),
    YES,
    AS,
    ON_STAKE_SET,
  ],
  note: `${NOTE}\nA command that ended early goes on where it was when you run it again.`,
  settings: IndexCommandSettings,
  async action(call, given: AgainGiven) {
    if (given.undo === true) await call.confirm(UNDONE);
    if (given.dropOld === true) await call.confirm(DROPPED);
    await withProgress(call.terminal, async (onProgress) => {
      const again = await indexAgain(call, onProgress);
      if (given.undo === true) return undo(call, again);
      if (given.dropOld === true) return dropOld(call, again);
      return makeAgain(call, again, given);
    });
  },
});

export const indexCommands = {
  name: 'index',
  description: 'repair the index, take it back to a block, or make it again',
  commands: [indexRepairCommand, rewindCommand, againCommand],
};

type IndexCall = Call<IndexCommandSettings>;

/** A reader of blocks. */
async function readerOf({ settings, clock }: IndexCall, chainId: number): Promise<ChainReader> {
  const pool = new RpcPool({ urls: settings.rpcUrls, clock, timeoutMs: TIMEOUT_MS });
  await pool.verifyChainId(chainId);
  return new ChainReader(pool, { finality: settings.finality });
}

async function indexAgain(call: IndexCall, onProgress: (said: string) => void) {
  const { settings, clock, source } = call;
  const { stakeSet } = settings;
  onProgress('Reading the index and the chain');
  const wanted = await newIndexSettings(settings);
  return new IndexAgain({
    ownerUrl: sessionUrl(settings),
    indexerUrl: indexerUrl(settings),
    ...{ stakeSet, source, clock, onProgress },
    wanted,
    reader: await readerOf(call, wanted.chainId),
  });
}

async function makeAgain(
  call: IndexCall,
  again: IndexAgain,
  { dryRun, compareOnly }: AgainGiven,
): Promise<void> {
  const { terminal } = call;
  const { before } = await again.reindexing.standing();
  if (before !== undefined) {
    terminal.out(
      `The new index is in use since ${moment(before) ?? ''}, and the one before is kept: index again --drop-old removes it, --undo goes back to it.\n`,
    );
    return;
  }
  const plan = await again.plan();
  terminal.out(planText(plan));
  if (dryRun === true) return;
  await again.run(compareOnly !== true, (comparison) => {
    terminal.out(comparisonText(comparison, plan));
  });
  if (compareOnly === true) {
    terminal.out(
      'Not exchanged: `index again` goes on, `index again --undo` removes the new index.\n',
    );
    return;
  }
  await audit(call, 'exchanged');
  const isChanged = plan.settings.some(({ stored, wanted }) => stored !== wanted);
  terminal.out(
    [
      'The new index is in use. The one before is kept: index again --drop-old removes it, --undo goes back to it.\n',
      ...(isChanged
        ? ['The settings have changed: restart the indexer and the other programs with them.\n']
        : []),
    ].join(''),
  );
}

async function undo(call: IndexCall, again: IndexAgain): Promise<void> {
  const outcome = await again.undo();
  await audit(call, outcome);
  call.terminal.out(
    outcome === 'removed'
      ? 'The new index is removed.\n'
      : 'The index before is in use again. Its settings must be those of the indexer.\n',
  );
}

async function dropOld(call: IndexCall, again: IndexAgain): Promise<void> {
  await again.dropOld();
  await audit(call, 'dropped the index before');
  call.terminal.out('The index before is removed.\n');
}

async function audit({ settings, operator }: IndexCall, outcome: string): Promise<void> {
  const { actor, command: name } = operator;
  const { stakeSet } = settings;
  await withDatabase(sessionUrl(settings), (database) =>
    new RedemptionViews(database).audit(
      actor,
      { command: name, arguments: { stakeSet }, outcome },
      {},
    ),
  );
}

function dateText(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

function rewindText(plan: RewindPlan): string {
  const { state, to, changes, wallets, sealedDays, firstDay, lastDay, published } = plan;
  const days =
    firstDay === undefined || lastDay === undefined
      ? 'none'
      : `${sealedDays}, from ${dateText(firstDay)} to ${dateText(lastDay)}; a day that comes out differently gets a revision`;
  return fieldLines([
    ['index', `ends at block ${state.head.number}${state.halted ? ', halted' : ''}`],
    ['to', `block ${to.number} of ${moment(to.timestampSeconds * 1000) ?? ''}  ${to.hash}`],
    ['taken back', `${state.head.number - to.number} blocks, ${counted(changes, 'change')}`],
    ['wallets', String(wallets)],
    ['sealed days', days],
    ['published', published === 0 ? 'none of these days' : `${published} on chain, which stay`],
  ]);
}

const MIB = 2 ** 20;

function planText({ state, settings, blocks, begunAt, bytes }: AgainPlan): string {
  const rows = settings.map(({ variable, stored, wanted }) => [
    variable,
    settingText(variable, stored),
    stored === wanted ? 'the same' : settingText(variable, wanted),
  ]);
  return [
    table(['SETTING', 'INDEX IN USE', 'NEW INDEX'], rows),
    '\n',
    fieldLines([
      ['index in use', `ends at block ${state.head.number}${state.halted ? ', halted' : ''}`],
      ['new index', begunAt === undefined ? 'not begun' : `begun, ends at block ${begunAt}`],
      ['to read', `${blocks} blocks`],
      ['disk', `about ${Math.ceil(bytes / MIB)} MiB more, until the index before is removed`],
      ['then', 'all balances are compared at a final block, and the indexes exchanged'],
      ['meanwhile', 'all programs go on with the index in use'],
    ]),
  ].join('');
}

function comparisonText(comparison: IndexComparison | undefined, { state }: AgainPlan): string {
  if (comparison === undefined) return 'Not compared: the index in use has no final block.\n';
  const { block, wallets, differences, first } = comparison;
  const { tokenDecimals, tokenSymbol } = state;
  const tokens = (tokenAmount: bigint) => tokensText({ tokenAmount, tokenDecimals });
  const rows = first.map((one) => [one.wallet, tokens(one.current), tokens(one.next)]);
  const more = differences - first.length;
  return [
    `Compared at block ${block}: ${counted(wallets, 'wallet')}, ${differences} different (${tokenSymbol}).\n`,
    ...(rows.length > 0 ? [table(['WALLET', 'INDEX IN USE', 'NEW INDEX'], rows)] : []),
    ...(more > 0 ? [`… and ${more} more.\n`] : []),
  ].join('');
}
