import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { readSettings } from '#libs/config';
import { ChainReader, RpcPool } from '#libs/chain';
import { type Database, IndexStore, type IndexState } from '#libs/db';
import { type AuditResult, auditIndex } from '../audit/audit-index.js';
import { auditBlock } from '../audit/audit-block.js';
import { AuditImpossibleError } from '../audit/audit.error.js';
import { AuditSettings } from '../audit/audit.settings.js';
import { agrees, auditText } from '../audit/audit-text.js';
import { indexedContracts } from '../audit/indexed-contracts.js';
import { type CommandContext } from '../command-context.js';
import { CommandFailed } from '../command-failed.js';
import { jsonLine } from '../output/json-line.js';
import { progressOf } from '../output/progress.js';
import { withDatabase } from '../with-database.js';

const MOST = 100_000;
const TIMEOUT_MS = 15_000;

interface Options {
  readonly wallets: number | 'all';
  readonly block: bigint | 'finalised';
  readonly json?: true;
}

/** `audit`: holds the index against the contract's own figures; fails where they differ. */
export function auditCommand(context: CommandContext): Command {
  const { source, terminal } = context;
  return new Command('audit')
    .description('compare the indexed balances and their sum with the contract’s own, at one block')
    .option('--wallets <number>', `how many, drawn at random, or all`, walletCount, 200)
    .option('--block <block>', 'a final block, or finalised: the newest one', block, 'finalised')
    .option('--json', 'print one line of JSON')
    .addHelpText(
      'after',
      '\nThe sum is that of all wallets in any case. Old blocks need an endpoint with their state.',
    )
    .action(async (options: Options) => {
      const settings = readSettings(AuditSettings, source());
      const { result, state } = await withDatabase(settings.databaseUrl, (database) =>
        audit(database, settings, options, context),
      );
      const { tokenDecimals, tokenSymbol } = state;
      terminal.out(
        options.json === true
          ? jsonLine({ ...result, agrees: agrees(result), tokenDecimals, tokenSymbol })
          : auditText(result, state),
      );
      if (!agrees(result)) throw new CommandFailed();
    });
}

async function audit(
  database: Database,
  settings: AuditSettings,
  options: Options,
  { terminal, clock }: CommandContext,
): Promise<{ result: AuditResult; state: IndexState }> {
  const state = await new IndexStore(database).state();
  if (state === undefined) throw new AuditImpossibleError('There is no index yet.');
  const pool = new RpcPool({ urls: settings.rpcUrls, clock, timeoutMs: TIMEOUT_MS });
  await pool.verifyChainId(state.chainId);
  const { contracts, isPartial } = indexedContracts(state);
  const fallback = isPartial ? 'none' : undefined;
  const reader = new ChainReader(pool, {
    contracts,
    totalView: settings.stakeTotalView ?? fallback,
    balanceView: settings.stakeBalanceView ?? fallback,
  });
  const at = await auditBlock(state, options.block, reader);
  const progress = progressOf(terminal, clock);
  const result = await auditIndex({
    database,
    reader,
    state,
    block: at,
    sample: options.wallets,
    sleep,
    onProgress: progress,
  });
  if (result.compared === undefined && result.total.contract === undefined) {
    throw new AuditImpossibleError(whyNothing(reader, at.number));
  }
  return { result, state };
}

function whyNothing({ hasBalances, hasTotal }: ChainReader, number: bigint): string {
  return hasBalances || hasTotal
    ? `No endpoint has the state of block ${number}: add an archive endpoint to RPC_URLS, or give a newer block.`
    : 'The contract tells neither balances nor a total: set STAKE_BALANCE_VIEW or STAKE_TOTAL_VIEW to what it has.';
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
