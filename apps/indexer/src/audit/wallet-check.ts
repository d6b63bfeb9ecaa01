/**
 * Holds single wallets against the contract's own view of them: events that cancel each other out in the sum (a transfer, a
 * stake and a withdrawal of the same size) show only here. Runs when the index first catches up and as finality advances.
 */
import { type ChainReader } from '#libs/chain';
import { type IndexStore } from '#libs/db';
import { type Address, type BlockRef, PermanentError } from '#libs/domain';
import { type Clock, type Logger } from '#libs/platform';
import { type IndexWriter } from '../apply/index-writer.js';
import { type Doubts } from './doubts.js';
import { firstDisagreement } from './total-mismatch.js';

/** Half of them changed lately, half are drawn from all. */
const SAMPLE = 32;
/** Each check costs as many calls of the contract as there are wallets in the sample. */
const EVERY_MS = 5 * 60_000;

/** A wallet's indexed balance is not what the contract says. */
export class WalletMismatchError extends PermanentError {
  constructor(mismatch: { wallet: Address; block: bigint; indexed: bigint; contract: bigint }) {
    super(
      'WALLET_MISMATCH',
      `At block ${mismatch.block} wallet ${mismatch.wallet} has ${mismatch.indexed} in the index but ${mismatch.contract} in the contract. ` +
        `Add another endpoint to RPC_URLS and check STAKE_EVENTS; where the function means something else in this contract, set ` +
        `STAKE_BALANCE_VIEW to the right one or to none.`,
    );
  }
}

interface WalletCheckParts {
  readonly reader: Pick<ChainReader, 'stakeBalances' | 'headers'>;
  readonly store: Pick<IndexStore, 'sampleWallets' | 'balancesAt'>;
  readonly doubts: Doubts;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The first block that is indexed. */
  readonly firstBlock: bigint;
}

export class WalletCheck {
  private lastGood: bigint | undefined;
  private checkedAtMs = 0;
  /** Blocks read again since the last check that held: once is enough to believe the difference. */
  private readonly readAgain = new Set<bigint>();

  constructor(private readonly parts: WalletCheckParts) {}

  /** Whether no check held yet, or blocks became final since one did that is some minutes old. */
  due(finalised: BlockRef | undefined): boolean {
    if (finalised === undefined) return false;
    if (this.lastGood === undefined) return true;
    return (
      finalised.number > this.lastGood && this.parts.clock.nowMs() - this.checkedAtMs >= EVERY_MS
    );
  }

  /**
   * Checks at the finalised block, as far as a node still has its state, and at the head.
   * @returns the block to roll back to where a wallet differs and the block of the difference could be found
   * @throws WalletMismatchError where it could not, or where reading it again gave the same
   */
  async run(writer: IndexWriter): Promise<BlockRef | undefined> {
    const { store } = this.parts;
    const recent = writer.recentWallets(SAMPLE / 2);
    const sampled = await store.sampleWallets(SAMPLE - recent.length);
    const wallets = [...new Set([...recent, ...sampled])];
    for (const block of [writer.state.finalised, writer.head]) {
      if (!block) continue;
      const contract = await this.parts.reader.stakeBalances(wallets, block);
      if (!contract) continue;
      const indexed = await store.balancesAt(wallets, block.number);
      const wrong = wallets.findIndex((_, index) => indexed[index] !== contract[index]);
      const wallet = wallets[wrong];
      if (wallet) return this.locate(wallet, block);
    }
    this.lastGood = writer.state.finalised?.number;
    this.checkedAtMs = this.parts.clock.nowMs();
    this.readAgain.clear();
    return undefined;
  }

  private async locate(wallet: Address, bad: BlockRef): Promise<BlockRef> {
    const { doubts, logger, reader } = this.parts;
    const good = this.lastGood ?? this.parts.firstBlock - 1n;
    const block = await firstDisagreement(good, bad.number, async (number) => {
      const pair = await this.bothAt(wallet, number);
      return pair && pair.indexed === pair.contract;
    });
    if (block === undefined || this.readAgain.has(block)) {
      const pair = await this.bothAt(wallet, bad.number);
      throw new WalletMismatchError({
        wallet,
        block: bad.number,
        indexed: pair?.indexed ?? 0n,
        contract: pair?.contract ?? 0n,
      });
    }
    logger.warn(
      { wallet, block },
      'A wallet’s balance is not what the contract says: reading this block again from its receipts',
    );
    this.readAgain.add(block);
    doubts.add({ from: block, to: block, avoid: [], by: 'receipts' });
    const [before] = await reader.headers([block - 1n]);
    if (!before) throw new Error(`The header of block ${block - 1n} is not there`);
    return before;
  }

  private async bothAt(
    wallet: Address,
    number: bigint,
  ): Promise<{ indexed: bigint; contract: bigint } | undefined> {
    const { reader, store } = this.parts;
    const [block] = await reader.headers([number]);
    const contract = block && (await reader.stakeBalances([wallet], block));
    if (contract?.[0] === undefined) return undefined;
    const [indexed] = await store.balancesAt([wallet], number);
    return { indexed: indexed ?? 0n, contract: contract[0] };
  }
}
