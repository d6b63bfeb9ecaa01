/**
 * Everything that must be true before the first block is read: the endpoints are of the right chain, the contracts are there, and the
 * database holds either no index or one made with the same settings.
 */
import {
  type ChainReader,
  chooseVerification,
  COMPUTE_UNITS,
  countProviders,
  readVerificationOffer,
  syncCalls,
  type TokenFacts,
  unitsFor,
  type Verification,
} from '#libs/chain';
import { fingerprintOf, type IndexState, type IndexStore, requireSameSettings } from '#libs/db';
import { type BlockRef, PermanentError } from '#libs/domain';
import { type Logger } from '#libs/platform';
import { type IndexStatus } from '../follow/index-status.js';
import { type IndexOptions, indexSettingsOf } from '../index-options.js';

export class IndexPreparation {
  constructor(
    private readonly reader: ChainReader,
    private readonly store: IndexStore,
    private readonly status: IndexStatus,
    private readonly logger: Logger,
    private readonly options: IndexOptions,
  ) {}

  /**
   * Afterwards the status knows by what events are vouched for, and before the chain is asked how far the index is: while no endpoint
   * answers, that gets older.
   * @throws PermanentError where a setting is wrong; RetryableError where the chain or the database does not answer
   */
  async prepare(): Promise<void> {
    const { reader, logger, options } = this;
    const { head, past } = await this.prepareState();
    this.say('asking the endpoints what there is to verify events by');
    const offer = await readVerificationOffer(reader, past);
    const verification = chooseVerification(options.verification, offer);
    this.status.verification = verification;
    const level = verification.mode === 'headers' ? 'warn' : 'info';
    logger[level](verification, `Events are verified by: ${verification.mode}`);
    await this.announceSync(head, verification);
  }

  /**
   * Says at the start of a long sync what it will read, before it is spent. `plan-sync` says it in more detail and without an indexer. The
   * calls are the least that it takes: the provider may allow smaller ranges only, and which blocks hold events is not known yet.
   * @param head the newest indexed block, or the one before the first
   * @throws AllEndpointsFailedError
   */
  private async announceSync(
    head: BlockRef,
    { mode, comparesPastTotals }: Verification,
  ): Promise<void> {
    const { reader } = this;
    const { maxRangeBlocks, contracts } = this.options;
    const { latest, finalised } = await reader.heads();
    const blocks = latest.number - head.number;
    if (blocks <= WORTH_A_LINE) return;
    const final = finalised.number > head.number ? finalised.number - head.number : 0n;
    const calls = syncCalls({
      mode,
      finalBlocks: Number(final),
      tipBlocks: Number(blocks - final),
      rangeBlocks: maxRangeBlocks,
      totalCalls: reader.hasTotal ? contracts.length : 0,
      comparesPastTotals,
      hasMulticall: true,
      hasOtherEndpoint: false,
      hasOtherProvider: countProviders(reader.endpoints) > 1,
    });
    this.logger.info(
      {
        fromBlock: head.number + 1n,
        toBlock: latest.number,
        blocks,
        verification: mode,
        maxRangeBlocks,
        leastCalls: calls,
        leastComputeUnits: unitsFor(calls, COMPUTE_UNITS.perCall),
        moreComputeUnitsPerBlockWithEvents: mode === 'headers' ? SECOND_LOOK : HEADER,
      },
      'Syncing: no estimate, but the fewest calls, where the provider allows such ranges and no block holds events; `plan-sync` asks the provider',
    );
  }

  /** An endpoint that does not answer may take half a minute of each step. */
  private say(step: string): void {
    this.status.step = step;
    this.logger.info(`Starting: ${step}`);
  }

  /**
   * @returns the head of the stored index, new or resumed; and the head or the newest final block below it, as the chain may have left
   * the head itself meanwhile
   */
  private async prepareState(): Promise<{ head: BlockRef; past: BlockRef }> {
    const { reader, store, options, logger } = this;
    const settings = indexSettingsOf(options);
    const stored = await store.state();
    if (stored) {
      requireSameSettings(stored, settings);
      this.status.head = stored.head;
    }
    this.say('asking the endpoints which chain they serve');
    await reader.verifyChainId(options.chainId);
    this.say('looking for the contracts');
    await this.requireContracts();
    const known = { symbol: options.tokenSymbol, decimals: options.tokenDecimals };
    if (stored) {
      this.compareToken(stored, await reader.token(options.tokenContract, known));
      logger.info({ head: stored.head.number, synced: stored.syncedAt }, 'Resuming the index');
      return { head: stored.head, past: stored.finalised ?? stored.head };
    }
    const [before] = await reader.headers([options.firstBlock - 1n]);
    if (!before)
      throw new PermanentError(
        'START_BLOCK_AHEAD',
        `STAKE_START_BLOCK: block ${options.firstBlock - 1n} does not exist on chain ${options.chainId} yet.`,
      );
    const token = await reader.token(options.tokenContract, known);
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
    // Another process may have been first meanwhile.
    requireSameSettings(made, settings);
    logger.info({ firstBlock: options.firstBlock, ...token }, 'A new index begins');
    return { head: made.head, past: made.head };
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
   * At the first start one provider may have been out, and the other believed alone. A symbol is a name, and tokens do change theirs.
   * @throws PermanentError TOKEN_CHANGED
   */
  private compareToken(
    { tokenContract, tokenDecimals, tokenSymbol }: IndexState,
    { symbol, decimals }: TokenFacts,
  ): void {
    if (decimals !== tokenDecimals) {
      throw new PermanentError(
        'TOKEN_CHANGED',
        `The index was made with ${tokenDecimals} decimals of the token ${tokenContract}, which has ${decimals} by the endpoints or TOKEN_DECIMALS. ` +
          `Find out which is right: correct RPC_URLS or TOKEN_DECIMALS, or index again (see docs/operating/reindexing.md).`,
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

/** Fewer are read in seconds. */
const WORTH_A_LINE = 1000n;
const { eth_getBlockByNumber: HEADER, eth_getBlockReceipts: SECOND_LOOK } = COMPUTE_UNITS.perCall;
