import { setTimeout as sleep } from 'node:timers/promises';
import { InvalidArgumentError, Option } from 'commander';
import {
  agrees,
  AuditImpossibleError,
  auditIndex,
  indexedContracts,
  requireComparison,
} from '#libs/verification';
import { RpcPool } from '#libs/chain';
import { DatabaseSettings, readSettings } from '#libs/config';
import { AuditRunStore, type Database, type IndexState, IndexStore } from '#libs/db';
import { CommandFailed } from '../cli.errors.js';

import { type Call, command, withDatabase } from '../command.js';
import { JSON_LINE, option } from '../options.js';
import { progressOf } from '../output/progress.js';
import { stakeReader } from '../staking.js';
import { AuditSettings } from '../staking.settings.js';
import { auditText, lastRunText } from './audit-text.js';

const MOST = 100_000;
const TIMEOUT_MS = 15_000;
/** A person waits. */
const PACE = { batchesAtOnce: 4, pauseMs: 0 };

interface Given {
  readonly wallets: number | 'all';
  readonly block: bigint | 'finalised';
  readonly last?: true;
}

/** Holds the index against the contract's own figures; fails where they differ. */
export const auditCommand = command({
  name: 'audit',
  description: 'compare the indexed balances and their sum with the contract’s own, at one block',
  options: [
    option('--wallets <number>', `how many, drawn at random, or all`, walletCount, 200),
    option('--block <block>', 'a final block, or finalised: the newest one', block, 'finalised'),
    new Option('--last', 'show the last nightly audit instead').conflicts(['wallets', 'block']),
    JSON_LINE,
  ],
  note: '\nThe sum is that of all wallets in any case. Old blocks need an endpoint with their state.',
  action: (call, given: Given) => (given.last === true ? showLast(call) : compare(call, given)),
});

async function compare(call: Call, { block: at, wallets }: Given): Promise<void> {
  const { terminal, clock } = call;
  const settings = readSettings(AuditSettings, call.source);
  const { result, state } = await withDatabase(settings.databaseUrl, async (database) => {
    const stored = await storedIndex(database);
    const pool = new RpcPool({ urls: settings.rpcUrls, clock, timeoutMs: TIMEOUT_MS });
    await pool.verifyChainId(stored.chainId);
    const { contracts, isPartial } = indexedContracts(stored);
    const { chainId } = stored;
    const reader = await stakeReader(pool, { chainId, contracts, isPartial }, settings);
    const onProgress = progressOf(terminal, clock);
    const scope = { block: at, sample: wallets, pace: PACE };
    const compared = await auditIndex({ database, reader, ...scope, sleep, onProgress });
    requireComparison(compared, reader);
    return { result: compared, state: stored };
  });
  const { tokenDecimals, tokenSymbol } = state;
  call.print(
    { ...result, agrees: agrees(result), tokenDecimals, tokenSymbol },
    auditText(result, state),
  );
  if (!agrees(result)) throw new CommandFailed();
}

async function storedIndex(database: Database): Promise<IndexState> {
  const state = await new IndexStore(database).state();
  if (state === undefined) throw new AuditImpossibleError('There is no index yet.');
  return state;
}

/** What the indexer found by itself; fails like the comparison where it found a difference. */
async function showLast(call: Call): Promise<void> {
  const { databaseUrl } = readSettings(DatabaseSettings, call.source);
  const { state, last, compared } = await withDatabase(databaseUrl, async (database) => {
    const runs = new AuditRunStore(database);
    return {
      state: await storedIndex(database),
      last: await runs.last(),
      compared: await runs.lastComparison(),
    };
  });
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

function walletCount(text: string): number | 'all' {
  if (text === 'all') return text;
  const count = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > MOST) {
    throw new InvalidArgumentError(`Expected all, or a number from 1 to ${MOST}.`);
  }
  return count;
}

function block(text: string): bigint | 'finalised' {
  if (text === 'finalised' || text === 'finalized') return 'finalised';
  if (!/^\d{1,18}$/.test(text)) throw new InvalidArgumentError('Expected a number, or finalised.');
  return BigInt(text);
}
