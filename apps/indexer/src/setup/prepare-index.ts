/**
 * Everything that must be true before the first block is read: the endpoints are of the right chain, the contracts are there, and the
 * database holds either no index or one made with the same settings.
 */
import {
  type ChainReader,
  chooseVerification,
  readVerificationOffer,
  type TokenFacts,
  type Verification,
  type VerificationSetting,
} from '#libs/chain';
import {
  fingerprintOf,
  type IndexSettings,
  type IndexState,
  type IndexStore,
  requireSameSettings,
} from '#libs/db';
import { type Address, type BlockRef, PermanentError } from '#libs/domain';
import { type Logger } from '#libs/platform';
import { type IndexStatus } from '../follow/index-status.js';
import { announceSync } from './announce-sync.js';

export interface PrepareParts {
  readonly reader: Pick<
    ChainReader,
    | 'verifyChainId'
    | 'hasCode'
    | 'headers'
    | 'token'
    | 'heads'
    | 'stakeTotal'
    | 'stakeBalances'
    | 'endpoints'
    | 'hasTotal'
  >;
  readonly store: IndexStore;
  readonly logger: Logger;
  /** Is told how far the index is before the chain is asked: while no endpoint answers, that gets older. */
  readonly status: Pick<IndexStatus, 'head' | 'verification' | 'step'>;
}

export interface PrepareSettings {
  readonly chainId: number;
  /** The first is the one that is reported. */
  readonly stakeContracts: readonly [Address, ...Address[]];
  readonly tokenContract: Address;
  readonly tokenSymbol: string | undefined;
  readonly tokenDecimals: number | undefined;
  readonly firstBlock: bigint;
  /** Canonical form of STAKE_EVENTS. */
  readonly events: unknown;
  readonly verification: VerificationSetting;
  readonly maxRangeBlocks: number;
}

/** What decides which rows the index holds. */
export function indexSettingsOf(wanted: PrepareSettings): IndexSettings {
  return {
    chainId: wanted.chainId,
    stakeContracts: wanted.stakeContracts,
    tokenContract: wanted.tokenContract,
    startBlock: wanted.firstBlock.toString(),
    events: wanted.events,
  };
}

/**
 * @returns by what events are going to be vouched for
 * @throws PermanentError where a setting is wrong; RetryableError where the chain or the database does not answer
 */
export async function prepareIndex(
  parts: PrepareParts,
  wanted: PrepareSettings,
): Promise<Verification> {
  const { head, past } = await prepareState(parts, wanted);
  say(parts, 'asking the endpoints what there is to verify events by');
  const offer = await readVerificationOffer(parts.reader, past);
  const verification = chooseVerification(wanted.verification, offer);
  parts.status.verification = verification;
  const level = verification.mode === 'headers' ? 'warn' : 'info';
  parts.logger[level](verification, `Events are verified by: ${verification.mode}`);
  await announceSync(parts, {
    head,
    verification,
    maxRangeBlocks: wanted.maxRangeBlocks,
    contracts: wanted.stakeContracts.length,
  });
  return verification;
}

/** An endpoint that does not answer may take half a minute of each step. */
function say({ logger, status }: PrepareParts, step: string): void {
  status.step = step;
  logger.info(`Starting: ${step}`);
}

interface PreparedState {
  /** Of the stored index, new or resumed. */
  readonly head: BlockRef;
  /** The head, or the newest final block below it: the chain may have left the head itself meanwhile. */
  readonly past: BlockRef;
}

async function prepareState(parts: PrepareParts, wanted: PrepareSettings): Promise<PreparedState> {
  const { reader, store, logger, status } = parts;
  const settings = indexSettingsOf(wanted);
  const stored = await store.state();
  if (stored) {
    requireSameSettings(stored, settings);
    status.head = stored.head;
  }
  say(parts, 'asking the endpoints which chain they serve');
  await reader.verifyChainId(wanted.chainId);
  say(parts, 'looking for the contracts');
  for (const [name, address] of [
    ...wanted.stakeContracts.map((contract) => ['STAKE_CONTRACT', contract] as const),
    ['TOKEN_CONTRACT', wanted.tokenContract] as const,
  ]) {
    if (!(await reader.hasCode(address)))
      throw new PermanentError(
        'NO_CONTRACT',
        `${name}: there is no contract at ${address} on chain ${wanted.chainId}. Check the address and CHAIN_ID.`,
      );
  }
  const known = { symbol: wanted.tokenSymbol, decimals: wanted.tokenDecimals };
  if (stored) {
    compareToken(stored, await reader.token(wanted.tokenContract, known), logger);
    logger.info({ head: stored.head.number, synced: stored.syncedAt }, 'Resuming the index');
    return { head: stored.head, past: stored.finalised ?? stored.head };
  }
  const [before] = await reader.headers([wanted.firstBlock - 1n]);
  if (!before)
    throw new PermanentError(
      'START_BLOCK_AHEAD',
      `STAKE_START_BLOCK: block ${wanted.firstBlock - 1n} does not exist on chain ${wanted.chainId} yet.`,
    );
  const token = await reader.token(wanted.tokenContract, known);
  const made = await store.create({
    fingerprint: fingerprintOf(settings),
    settings: { ...settings },
    chainId: wanted.chainId,
    stakeContract: wanted.stakeContracts[0],
    tokenContract: wanted.tokenContract,
    tokenSymbol: token.symbol,
    tokenDecimals: token.decimals,
    head: before,
  });
  // Another process may have been first meanwhile.
  requireSameSettings(made, settings);
  logger.info({ firstBlock: wanted.firstBlock, ...token }, 'A new index begins');
  return { head: made.head, past: made.head };
}

/**
 * At the first start one provider may have been out, and the other believed alone. A symbol is a name, and tokens do change theirs.
 * @throws PermanentError TOKEN_CHANGED
 */
function compareToken(
  { tokenContract, tokenDecimals, tokenSymbol }: IndexState,
  { symbol, decimals }: TokenFacts,
  logger: Logger,
): void {
  if (decimals !== tokenDecimals) {
    throw new PermanentError(
      'TOKEN_CHANGED',
      `The index was made with ${tokenDecimals} decimals of the token ${tokenContract}, which has ${decimals} by the endpoints or TOKEN_DECIMALS. ` +
        `Find out which is right: correct RPC_URLS or TOKEN_DECIMALS, or index again (see docs/operating/reindexing.md).`,
    );
  }
  if (symbol !== tokenSymbol) {
    logger.warn(
      { stored: tokenSymbol, told: symbol },
      'The token has another symbol than the index was made with, which is kept',
    );
  }
}
