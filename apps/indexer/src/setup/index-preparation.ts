/**
 * Checks everything that must be true before the first block is read: the endpoints serve the right chain, the
 * contracts exist, and the database holds either no index or one made with the same settings.
 */
import {
  type BlockRange,
  type ChainReader,
  chooseVerification,
  computeUnitsOf,
  estimateSync,
  readVerificationOffer,
  type TokenFacts,
  type Verification,
} from '#libs/chain';
import { fingerprintOf, type IndexState, type IndexStore, requireSameSettings } from '#libs/db';
import { type BlockRef, MAX_AHEAD_SECONDS, PermanentError, RetryableError } from '#libs/domain';
import { type Clock, type Logger } from '#libs/platform';
import { type IndexStatus } from '../health/index-status.js';
import { type IndexOptions, indexSettingsOf } from '../settings/index-options.js';

export class IndexPreparation {
  constructor(
    private readonly reader: ChainReader,
    private readonly store: IndexStore,
    private readonly status: IndexStatus,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly options: IndexOptions,
  ) {}

  /**
   * Prepares the index. Afterwards the status holds the verification mode. The stored head is in the status before the
   * chain is asked, so that the reported lag grows while no endpoint answers.
   * @throws PermanentError where a setting is wrong; RetryableError where the chain or the database does not answer
   */
  async prepare(): Promise<void> {
    const { reader, logger, options } = this;
    const { head, past } = await this.prepareState();
    this.reportStep('asking the endpoints what there is to verify events by');
    const offer = await readVerificationOffer(reader, past);
    const verification = chooseVerification(options.verification, offer);
    this.status.verification = verification;
    const level = verification.mode === 'none' ? 'warn' : 'info';
    logger[level](verification, `Events are verified by: ${verification.mode}`);
    await this.announceSync(head, verification);
  }

  /**
   * Chooses again what vouches for events, after an endpoint was left out because its answers are not valid: an added
   * provider must not stop an index that another mode could verify.
   * @param past a final block of the index
   * @throws AllEndpointsFailedError; PermanentError if nothing now vouches for events
   */
  async chooseAgain(past: BlockRef): Promise<void> {
    const { reader, status, logger, options } = this;
    if (options.verification !== 'auto') return;
    const verification = chooseVerification('auto', await readVerificationOffer(reader, past));
    if (verification.mode === status.verification?.mode) return;
    status.verification = verification;
    logger.warn(verification, `Events are verified in another way now: ${verification.mode}`);
  }

  /** The same, if the contract no longer tells its total, perhaps after an upgrade. */
  async chooseAgainWithoutTotal(past: BlockRef): Promise<void> {
    if (!(await this.reader.lookForTotal())) await this.chooseAgain(past);
  }

  /**
   * Logs the least that a long sync takes, before the sync begins.
   * @param head the newest indexed block, or the one before the first
   * @throws AllEndpointsFailedError
   */
  private async announceSync(head: BlockRef, verification: Verification): Promise<void> {
    const { contracts, maxRangeBlocks } = this.options;
    const question = { head, verification, contracts: contracts.length, maxRangeBlocks };
    const estimate = await estimateSync(this.reader, question);
    const { fromBlock, toBlock, blocks, calls, computeUnits, seconds } = estimate;
    if (blocks <= ANNOUNCED_ABOVE_BLOCKS) return;
    this.logger.info(
      {
        fromBlock,
        toBlock,
        blocks,
        verification: verification.mode,
        maxRangeBlocks,
        leastCalls: calls,
        leastComputeUnits: computeUnits,
        leastSeconds: Math.ceil(seconds),
        moreComputeUnitsPerBlockWithEvents: computeUnitsOf('eth_getBlockByNumber'),
      },
      'Syncing: the least that it takes, where the provider allows such ranges and no block holds events',
    );
  }

  /** Reports the current step, as an endpoint that does not answer may delay each step by half a minute. */
  private reportStep(step: string): void {
    this.status.step = step;
    this.logger.info(`Starting: ${step}`);
  }

  /**
   * @returns `head`: the head of the new or resumed index; `past`: the newest indexed block that is final, or `head`
   * where none is. The chain may have replaced `head` itself in the meantime.
   */
  private async prepareState(): Promise<{ head: BlockRef; past: BlockRef }> {
    const { reader, store, options, logger } = this;
    const settings = indexSettingsOf(options);
    const stored = await store.state();
    if (stored) {
      requireSameSettings(stored, settings);
      this.status.head = stored.head;
    }
    this.reportStep('asking the endpoints which chain they serve');
    await reader.verifyChainId(options.chainId);
    this.reportStep('looking for the contracts');
    await this.requireContracts();
    if (stored) {
      this.compareToken(stored, await reader.token(options.tokenContract));
      logger.info({ head: stored.head.number, synced: stored.syncedAt }, 'Resuming the index');
      return { head: stored.head, past: stored.finalised ?? stored.head };
    }
    const latestSeconds = Math.floor(this.clock.nowMs() / 1000) + MAX_AHEAD_SECONDS;
    const before = await reader.agreedHeader(options.firstBlock - 1n, latestSeconds);
    if (!before) throw await this.whyNoStart(options.firstBlock - 1n);
    await this.requireChain();
    await this.requireLogs();
    const token = await reader.token(options.tokenContract);
    const made = await store.create({
      fingerprint: fingerprintOf(settings),
      settings: { ...settings },
      chainId: options.chainId,
      stakeContract: options.contracts[0],
      tokenContract: options.tokenContract,
      tokenSymbol: token.symbol,
      tokenDecimals: token.decimals,
      head: before,
    });
    // Another process may have created the index in the meantime.
    requireSameSettings(made, settings);
    logger.info({ firstBlock: options.firstBlock, ...token }, 'A new index begins');
    return { head: made.head, past: made.head };
  }

  /** Why no endpoint has the block before the first one. */
  private async whyNoStart(number: bigint): Promise<Error> {
    const { reader, options } = this;
    const { latest } = await reader.heads();
    if (latest.number <= number)
      return new PermanentError(
        'START_BLOCK_AHEAD',
        `STAKE_START_BLOCK: block ${number} does not exist on chain ${options.chainId} yet.`,
      );
    return new RetryableError(
      'HEADERS_PRUNED',
      `${reader.endpoints.join(' and ')} pruned block ${number}: they have no header of it, and yet block ${latest.number}. Add an endpoint with all blocks to RPC_URLS.`,
    );
  }

  /** Looks at the newest final blocks. @throws PermanentError where the chain skips heights */
  private async requireChain(): Promise<void> {
    const { number } = (await this.reader.heads()).finalised;
    const from = number > PROBED_BLOCKS ? number - PROBED_BLOCKS : 0n;
    await requireEveryHeight(this.reader, { from, to: number });
  }

  /** Names endpoints that have pruned their logs, before a sync finds out. @throws RetryableError where all have */
  private async requireLogs(): Promise<void> {
    const { reader, options } = this;
    this.reportStep('looking for the logs of the first blocks');
    const lacking = await reader.endpointsWithoutLogs(options.firstBlock);
    if (lacking.size < reader.endpoints.length) return;
    const texts = [...lacking].map(
      ([endpoint, block]) =>
        `${endpoint} has pruned its logs: it answers with none for block ${block}, whose header shows some.`,
    );
    const remedy = 'Add an endpoint with the logs of all blocks to RPC_URLS.';
    throw new RetryableError('LOGS_PRUNED', `${texts.join(' ')} ${remedy}`);
  }

  private async requireContracts(): Promise<void> {
    const { contracts, tokenContract, chainId } = this.options;
    for (const [name, address] of [
      ...contracts.map((contract) => ['STAKE_CONTRACT', contract] as const),
      ['TOKEN_CONTRACT', tokenContract] as const,
    ]) {
      if (!(await this.reader.hasCode(address)))
        throw new PermanentError(
          'NO_CONTRACT',
          `${name}: there is no contract at ${address} on chain ${chainId}. Check the address and CHAIN_ID.`,
        );
    }
  }

  /**
   * Compares the token with the stored one. At the first start one provider may have been unreachable, so that the
   * other one was believed alone. A different symbol is only a warning, because tokens do change their symbols.
   * @throws PermanentError TOKEN_CHANGED
   */
  private compareToken(
    { tokenContract, tokenDecimals, tokenSymbol }: IndexState,
    { symbol, decimals }: TokenFacts,
  ): void {
    if (decimals !== tokenDecimals) {
      throw new PermanentError(
        'TOKEN_CHANGED',
        `The index was made with ${tokenDecimals} decimals of the token ${tokenContract}, which has ${decimals} by the endpoints. ` +
          `Find out which is right: correct RPC_URLS, or make the index again: \`index again\` (docs/operating/troubleshooting.md#indexing-again).`,
      );
    }
    if (symbol !== tokenSymbol) {
      this.logger.warn(
        { stored: tokenSymbol, told: symbol },
        'The token has another symbol than the index was made with, which is kept',
      );
    }
  }
}

/** Final blocks that are looked at before a sync. */
const PROBED_BLOCKS = 128n;

/** @throws PermanentError where the chain skips a height of the range */
export async function requireEveryHeight(reader: ChainReader, range: BlockRange): Promise<void> {
  const skipped = await reader.skippedHeight(range);
  if (skipped === undefined) return;
  throw new PermanentError(
    'CHAIN_SKIPS_HEIGHTS',
    `The chain has no block ${skipped}, although it has later ones. Chains that skip heights, such as Filecoin, are not supported.`,
  );
}

/** A sync of at most this many blocks takes seconds and is not announced. */
const ANNOUNCED_ABOVE_BLOCKS = 1000;
