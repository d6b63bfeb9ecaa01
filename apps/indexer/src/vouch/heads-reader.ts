/**
 * Reads the chain's newest block and its newest final block. With endpoints of two providers, both are asked at a start
 * and while no new block comes. A block counts as final only where both providers report it as final.
 */
import {
  agreed,
  type ChainReader,
  type Confirmation,
  type Heads,
  type LogSource,
  otherProvidersThan,
  providerOf,
  Quorum,
  type ReadRange,
  STANDS_STILL_SECONDS,
  type Tip,
} from '#libs/chain';
import { type BlockHeader, type BlockRef, isSameBlock, RetryableError } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { type SuspectRanges } from './suspect-ranges.js';
import { type Witnesses } from './witnesses.js';
import { type IndexWriter } from '../write/index-writer.js';

/** The chain's heads, from one request to one node. */
export interface ChainHeads {
  /** Whose newest block it is. */
  readonly endpoint: string;
  readonly latest: BlockHeader;
  readonly finalised: BlockRef;
}

export interface ReadTip extends Tip {
  readonly heads: ChainHeads;
}

export interface TipWithBlocks extends ReadTip {
  readonly answer: ReadRange;
}

/**
 * Age from which the newest block counts as stale. Another provider is then asked for a newer block, at most once in
 * this time. Newest blocks of two providers that differ by more are reported.
 */
const STALE_MS = 60_000;
/** Final blocks remembered per provider, so that a provider that is ahead can still agree with one that is behind. */
const MOST_TOLD = 16;

export class HeadsReader {
  /** The newest blocks of both providers, as a message for operators, where one is far older than the other. */
  providersApartMessage: string | undefined;
  private readAtMs = 0;
  /** Reported final blocks, by provider and block number. */
  private readonly reportedFinalBlocks = new Map<string, Map<bigint, BlockRef>>();

  constructor(
    private readonly reader: ChainReader,
    private readonly source: LogSource,
    private readonly witnesses: Witnesses,
    private readonly suspects: SuspectRanges,
    private readonly clock: Clock,
  ) {}

  /**
   * Reads what is new after the indexed head, in one request.
   * @returns undefined where `read` must be used instead: the next block is suspect, or the final block cannot be
   * determined; with a second provider also where too many blocks are missing for one request, or no new block has come
   * for long
   */
  async readTip(writer: IndexWriter): Promise<ReadTip | undefined> {
    const { head, signal } = writer;
    const { finality } = this.reader;
    const { hasOtherProvider } = this.witnesses;
    if (this.suspects.covering(head.number + 1n)) return undefined;
    const tip = await this.source.tip(
      {
        head,
        tag: finality.kind === 'tag' ? finality.tag : undefined,
        total: hasOtherProvider ? undefined : await this.reader.totalCalls(),
      },
      this.witnesses.fetchOptions(false, signal),
    );
    // With finality by depth, the final block is remembered, or it is not newer than the stored one.
    const told =
      finality.kind === 'tag'
        ? this.finalAt(tip, undefined)
        : writer.blockAt(tip.latest.number - finality.blocks);
    const finalised = told ?? writer.state.finalised;
    const hasMore = tip.latest.number > head.number || this.isStale(head);
    if (!finalised || (!tip.answer && hasOtherProvider && hasMore)) return undefined;
    return { ...tip, heads: { endpoint: tip.endpoint, latest: tip.latest, finalised } };
  }

  /**
   * The heads after the tip is verified. The comparison with the other provider also brought that provider's final
   * block; without a comparison, one provider's final block counts.
   */
  afterTip({ heads, ...tip }: TipWithBlocks, other: Confirmation | undefined): ChainHeads {
    this.providersApartMessage = undefined;
    if (this.reader.finality.kind !== 'tag') return heads;
    const finalised = other ? this.finalAt(tip, other) : tip.finalised;
    return finalised ? { ...heads, finalised } : heads;
  }

  /** Whether the indexed head is older than `STALE_MS`, and the other provider was not asked for as long. */
  private isStale(head: BlockRef): boolean {
    const nowMs = this.clock.nowMs();
    const isOld = nowMs - head.timestampSeconds * 1000 > STALE_MS;
    return isOld && nowMs - this.readAtMs >= STALE_MS;
  }

  /**
   * Reads the heads of both providers and takes the lower blocks, as the provider that is behind cannot confirm higher
   * ones. A provider that stands still counts as out.
   * @throws AllEndpointsFailedError; RetryableError where the two providers have different final blocks at the same
   * height
   */
  async read(): Promise<ChainHeads> {
    this.readAtMs = this.clock.nowMs();
    this.providersApartMessage = undefined;
    const { latestSeconds, mustBeTwo } = this.witnesses;
    const [{ value: first }, second] = await new Quorum(this.reader.endpoints).two(
      async (options) => {
        const value = await this.reader.heads({ ...options, latestSeconds });
        return { endpoint: value.endpoint, value };
      },
      { mustBeTwo },
    );
    if (!second) return first;
    const [behind, ahead] = inOrder(first, second.value, ({ latest }) => latest.number);
    const apartSeconds = ahead.latest.timestampSeconds - behind.latest.timestampSeconds;
    if (apartSeconds * 1000 > STALE_MS) {
      this.providersApartMessage = `the newest block of ${behind.endpoint} is ${behind.latest.number}, that of ${ahead.endpoint} ${ahead.latest.number}`;
    }
    if (apartSeconds > STANDS_STILL_SECONDS && (await this.hasSameChain(ahead, behind))) {
      this.reader.leaveOutStanding(behind.endpoint, behind.latest, ahead.latest);
      if (!mustBeTwo) {
        this.providersApartMessage = undefined;
        return ahead;
      }
    }
    const finalised = await this.finalOf(first, second.value);
    return { endpoint: behind.endpoint, latest: behind.latest, finalised };
  }

  /** Whether the newest block of the provider that is behind is on the other one's chain. */
  private async hasSameChain(ahead: Heads, { latest }: Heads): Promise<boolean> {
    const { endpoint: only } = ahead;
    const [same] = await this.reader.headers([latest.number], { only, existing: latest.number });
    return same?.hash === latest.hash;
  }

  /**
   * The newest final block at the chain's head that two providers reported alike.
   * @param told final block from the endpoint that delivered the tip
   * @param other comparison with another provider, which brought that provider's final block
   */
  private finalAt(
    told: { readonly endpoint: string; readonly finalised: BlockRef | undefined },
    other: Confirmation | undefined,
  ): BlockRef | undefined {
    if (!this.witnesses.hasOtherProvider) return told.finalised;
    this.note(told.endpoint, told.finalised);
    if (other) this.note(other.endpoint, other.finalised);
    const said = [...this.reportedFinalBlocks].flatMap(([endpoint, blocks]) =>
      [...blocks.values()].map((value) => ({ endpoint, value })),
    );
    said.sort((a, b) => (a.value.number < b.value.number ? 1 : -1));
    return agreed(said, isSameBlock)?.value;
  }

  /** The lower of the two final blocks, after the provider of the higher one has confirmed it. */
  private async finalOf(first: Heads, second: Heads): Promise<BlockRef> {
    const { reader } = this;
    const [low, high] = inOrder(first, second, ({ finalised }) => finalised.number);
    const { number, hash, timestampSeconds } = low.finalised;
    const [same] =
      high.finalised.number === number
        ? [high.finalised]
        : await reader.headers([number], {
            avoid: otherProvidersThan(high.endpoint, reader.endpoints),
          });
    if (same === undefined || !isSameBlock(same, low.finalised)) {
      throw new RetryableError(
        'PROVIDERS_DISAGREE',
        `The final block ${number} is ${hash}, dated ${timestampSeconds}, by ${low.endpoint} and ` +
          `${same ? `${same.hash}, dated ${same.timestampSeconds},` : 'not there'} by ${high.endpoint}`,
      );
    }
    for (const { endpoint } of [low, high]) this.note(endpoint, low.finalised);
    return low.finalised;
  }

  private note(endpoint: string, final: BlockRef | undefined): void {
    if (!final) return;
    const provider = providerOf(endpoint);
    const blocks = this.reportedFinalBlocks.get(provider) ?? new Map<bigint, BlockRef>();
    blocks.set(final.number, final);
    const [oldest] = blocks.keys();
    if (blocks.size > MOST_TOLD && oldest !== undefined) blocks.delete(oldest);
    this.reportedFinalBlocks.set(provider, blocks);
  }
}

function inOrder(one: Heads, other: Heads, numberOf: (heads: Heads) => bigint): [Heads, Heads] {
  return numberOf(one) <= numberOf(other) ? [one, other] : [other, one];
}
