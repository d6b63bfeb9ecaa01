import {
  ChainReader,
  redemptionIdOf,
  type RpcPool,
  type VaultEvent,
  VaultReader,
} from '#libs/chain';
import { type Checkpoint, type ReconciliationStore, type VaultClaim } from '#libs/db';
import { type Address, type BlockRef } from '#libs/domain';
import { type Clock, type Logger } from '#libs/platform';

export interface ClaimScanSources {
  readonly pool: RpcPool;
  readonly store: ReconciliationStore;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface ClaimScanOptions {
  readonly token: Address;
  /** FINALITY: `finalized`, `safe` or `depth:<blocks>`. */
  readonly finality: string;
  /** Blocks per step of the checkpoint. */
  readonly spanBlocks: bigint;
  readonly signal: AbortSignal;
}

/** Milliseconds between two progress messages: a longer silence looks like a service that hangs. */
const PROGRESS_MS = 2_000;

/** Reads the claims of vaults up to one final block, span by span. Each span is stored when it was read. */
export class ClaimScan {
  private readonly chain: ChainReader;
  private readonly readers = new Map<Address, VaultReader>();
  private lastWordMs: number;

  constructor(
    private readonly parts: ClaimScanSources,
    private readonly finalised: BlockRef,
    private readonly options: ClaimScanOptions,
  ) {
    this.chain = new ChainReader(parts.pool, { finality: options.finality });
    this.lastWordMs = parts.clock.nowMs();
  }

  /** Whether the checkpoint's block is no longer part of the chain, although it was final. */
  async isTakenBack({ block }: Checkpoint): Promise<boolean> {
    if (!block || block.number > this.finalised.number) return false;
    const [header] = await this.chain.headers([block.number]);
    return header !== undefined && header.hash !== block.hash;
  }

  /** Reads from the checkpoint up to the final block. @throws the signal's reason */
  async forward(from: Checkpoint): Promise<Checkpoint> {
    let checkpoint = from;
    while (nextOf(checkpoint) <= this.finalised.number) {
      const first = nextOf(checkpoint);
      const head = await this.endOf(first, this.finalised);
      checkpoint = await this.read(checkpoint, { first, head, end: head });
    }
    return checkpoint;
  }

  /**
   * Reads from an older block up to the checkpoint once more, for claims that a node may have left out.
   * @throws the signal's reason
   */
  async again(from: Checkpoint, first: bigint): Promise<Checkpoint> {
    const { block } = from;
    let [checkpoint, next] = [from, first];
    while (block && next <= block.number) {
      const head = await this.endOf(next, block);
      checkpoint = await this.read(checkpoint, { first: next, head, end: block });
      next = head.number + 1n;
    }
    return checkpoint;
  }

  private async read(
    before: Checkpoint,
    span: { readonly first: bigint; readonly head: BlockRef; readonly end: BlockRef },
  ): Promise<Checkpoint> {
    const { store, clock } = this.parts;
    const { signal } = this.options;
    const { first, head, end } = span;
    signal.throwIfAborted();
    const reader = this.readerOf(before.vault);
    const events = await reader.witnessedEvents({ from: first, head }, signal);
    const after = await store.advance(before, end, events.flatMap(claimOf), clock.nowMs());
    this.tell(after, head.number);
    return after;
  }

  /** One reader per vault for the whole scan: a reader learns how many blocks per request the nodes accept. */
  private readerOf(vault: Address): VaultReader {
    const known = this.readers.get(vault);
    if (known) return known;
    const { token, finality } = this.options;
    const reader = new VaultReader(this.parts.pool, {
      vault,
      token,
      finality,
      clock: this.parts.clock,
    });
    this.readers.set(vault, reader);
    return reader;
  }

  private async endOf(first: bigint, last: BlockRef): Promise<BlockRef> {
    const number = first + this.options.spanBlocks - 1n;
    if (number >= last.number) return last;
    const [header] = await this.chain.headers([number]);
    // A node that is behind does not have the header: the rest is read as one span.
    return header ?? last;
  }

  private tell({ vault, claims }: Checkpoint, block: bigint): void {
    const { clock, logger } = this.parts;
    const nowMs = clock.nowMs();
    if (nowMs - this.lastWordMs < PROGRESS_MS) return;
    this.lastWordMs = nowMs;
    const [at, of] = [block.toString(), this.finalised.number.toString()];
    logger.info({ vault, block: at, of, claims: claims.count }, 'Reading the claims of the vault');
  }
}

function nextOf({ block, startBlock }: Checkpoint): bigint {
  return block ? block.number + 1n : startBlock;
}

function claimOf(event: VaultEvent): VaultClaim[] {
  if (event.kind !== 'claimed') return [];
  const { vaultId, transactionHash, block, recipient, amount } = event;
  const redemptionId = redemptionIdOf(vaultId);
  return [{ vaultId, redemptionId, transactionHash, block, recipient, amount }];
}
