/**
 * Decides which block is final, by two providers if there are two.
 *
 * Each of them states its own newest final block. The lower of the two counts, and the endpoint with the higher one
 * must have the lower one too, with the same hash and the same time. Where the fields of one of the two headers hash to
 * that hash, the chain's header format is known, and every header at hand must do so: an endpoint cannot evade the rule
 * by odd fields, because those of the other endpoint are not odd. Where neither header does so, the format is another
 * one (for example ZK Stack). This is reported once, and the other rules remain.
 *
 * A single provider is compared with itself and with our clock only: its final header must hash like its newest one, or
 * like an earlier one.
 */
import {
  aheadOfClock,
  type BlockRef,
  differenceOf,
  type FinalStatement,
  PermanentError,
} from '#libs/domain';
import { TtlCache } from '#libs/platform';
import {
  BlockMissingError,
  EndpointsDisagreeError,
  FinalBlockRefusedError,
  MalformedAnswerError,
  unlessAllFail,
} from '../rpc/rpc.errors.js';
import { type Others, questionTo, Quorum } from '../quorum/quorum.js';
import { countProviders } from '../rpc/endpoint-urls.js';
import { valueOf } from '../rpc/rpc-call.js';
import { type RpcSession } from '../rpc/question.js';
import { type RpcPool } from '../rpc/rpc-pool.js';
import {
  type FullHeader,
  hashesToItself,
  headerCall,
  parseHeaderOf,
  parseTagged,
  refOf,
  tagCall,
} from '../blocks/header.js';

export interface FinalBlockStatement extends FinalStatement {
  /** Whether the header's fields hash to its hash. */
  readonly isHashed: boolean;
}

/**
 * The codes of the pool's warnings about final blocks. While they are reported, nothing is done that rests on final
 * blocks.
 */
export const FINAL_BLOCK_CODES = {
  disagree: 'RPC_ENDPOINTS_DISAGREE',
  refused: 'RPC_FINAL_BLOCK_REFUSED',
} as const;
const FORMAT = 'RPC_HEADER_FORMAT';
/** How long the same warning is not repeated. */
const TOLD_AGAIN_MS = 60_000;

export class FinalBlocks {
  /** How many providers must agree: two, if there are two. */
  readonly witnesses: number;
  private readonly quorum: Quorum;
  private readonly told: TtlCache<string, true>;
  private hasToldFormat = false;
  /** For a single provider: whether one of its headers has ever hashed to its hash. */
  private hasHashed = false;
  private lastAgreed: BlockRef | undefined;

  constructor(
    private readonly pool: RpcPool,
    private readonly finality: Finality,
    private readonly clock: { nowMs(): number },
  ) {
    this.witnesses = Math.min(2, countProviders(pool.endpoints));
    this.quorum = new Quorum(pool.endpoints);
    this.told = new TtlCache({ clock, ttlMs: TOLD_AGAIN_MS });
  }

  get nowSeconds(): number {
    return Math.floor(this.clock.nowMs() / 1000);
  }

  /**
   * The endpoint's own newest final block.
   * @throws FinalBlockRefusedError where the block is too far ahead of our clock, or does not hash as the endpoint's
   * other headers do
   */
  async by(session: RpcSession): Promise<FinalBlockStatement> {
    const { latest, finalised } = await readHeads(session, this.finality);
    const word = wordOf(session.endpoint, finalised);
    const ahead = aheadOfClock(word.block, this.nowSeconds);
    if (ahead !== undefined) throw this.refusal(session, ahead);
    if (this.witnesses < 2) this.requireHash(session, word, latest);
    return word;
  }

  /**
   * The lower of two endpoints' final blocks, which both have.
   * @throws EndpointsDisagreeError naming both statements; AllEndpointsFailedError where the other endpoint cannot be
   * asked for the block now
   */
  async requireAgreement(one: FinalBlockStatement, other: FinalBlockStatement): Promise<BlockRef> {
    const [low, high] = one.block.number <= other.block.number ? [one, other] : [other, one];
    const said = low.block.number === high.block.number ? high : await this.again(high, low.block);
    const difference = differenceOf(low, said);
    if (difference !== undefined) throw this.disagreement(low, high, difference);
    const isKnown = low.isHashed || said.isHashed;
    const odd = [low, said, high].find(({ isHashed }) => !isHashed);
    if (isKnown && odd) {
      const { witness, block } = odd;
      const text = `${witness} serves a header of final block ${block.number.toString()} whose fields do not hash to ${block.hash}, as those of the other endpoint do`;
      throw this.disagreement(low, high, text);
    }
    if (odd) this.tellFormat(`${low.witness}, ${high.witness}`);
    this.lastAgreed = low.block;
    return low.block;
  }

  /**
   * The newest block that two providers hold final. While the second one cannot be asked: the last block that both held
   * final, else the final block of the first.
   * @throws EndpointsDisagreeError; AllEndpointsFailedError
   */
  async newest(): Promise<BlockRef> {
    const [first, second] = await this.ofTwo({ mayFail: true });
    const agreed = second && (await unlessAllFail(this.requireAgreement(first, second)));
    if (agreed || this.witnesses < 2) return agreed ?? first.block;
    const { lastAgreed } = this;
    return lastAgreed && lastAgreed.number < first.block.number ? lastAgreed : first.block;
  }

  /** The newest final blocks of two providers; of one if there is no other, or if the others fail and may do so. */
  async ofTwo(
    others: Others,
  ): Promise<readonly [FinalBlockStatement, FinalBlockStatement | undefined]> {
    const [first, second] = await this.quorum.two(
      questionTo(this.pool, (session) => this.by(session)),
      others,
    );
    return [first.value, second?.value];
  }

  /** Asks the endpoint with the higher final block for the lower one. */
  private again(
    { witness }: FinalBlockStatement,
    { number }: BlockRef,
  ): Promise<FinalBlockStatement> {
    return this.pool.run(
      async (session) => wordOf(session.endpoint, await readHeader(session, number)),
      { only: witness, patienceMs: 0 },
    );
  }

  private requireHash(
    session: RpcSession,
    word: FinalBlockStatement,
    latest: AnsweredHeader,
  ): void {
    this.hasHashed ||= word.isHashed || hashesToItself(latest.answer);
    if (word.isHashed) return;
    const { number, hash } = word.block;
    if (!this.hasHashed) this.tellFormat(session.endpoint);
    else {
      throw this.refusal(
        session,
        `the fields of final block ${number.toString()} do not hash to ${hash}, as those of other blocks do`,
      );
    }
  }

  private refusal({ endpoint }: RpcSession, text: string): FinalBlockRefusedError {
    this.tell(endpoint, FINAL_BLOCK_CODES.refused, text);
    return new FinalBlockRefusedError(text, { endpoint });
  }

  private disagreement(
    one: FinalBlockStatement,
    other: FinalBlockStatement,
    text: string,
  ): EndpointsDisagreeError {
    this.tell(`${one.witness}, ${other.witness}`, FINAL_BLOCK_CODES.disagree, text);
    return new EndpointsDisagreeError(text);
  }

  private tellFormat(endpoints: string): void {
    if (this.hasToldFormat) return;
    this.hasToldFormat = true;
    this.pool.warn(
      endpoints,
      FORMAT,
      'The block hashes of this chain cannot be recomputed from the headers: their format is not known. The other rules for final blocks remain.',
    );
  }

  /** Reports the same warning once in TOLD_AGAIN_MS. */
  private tell(endpoints: string, code: string, text: string): void {
    const key = `${code} ${endpoints}`;
    if (this.told.get(key)) return;
    this.told.set(key, true);
    this.pool.warn(endpoints, code, text);
  }
}

function wordOf(witness: string, { header, answer }: AnsweredHeader): FinalBlockStatement {
  return { witness, block: refOf(header), isHashed: hashesToItself(answer) };
}

interface AnsweredHeader {
  readonly header: FullHeader;
  readonly answer: unknown;
}

/**
 * The newest block and the newest final one, as one node answers them.
 * @throws NodeBehindError, MalformedAnswerError
 */
export async function readHeads(
  session: RpcSession,
  finality: Finality,
): Promise<{ readonly latest: AnsweredHeader; readonly finalised: AnsweredHeader }> {
  const tags = finality.kind === 'tag' ? ['latest', finality.tag] : ['latest'];
  const { results } = await session.batch(tags.map(tagCall));
  const tagged = (index: number): AnsweredHeader => {
    const result = results[index];
    const header = parseTagged(result, tags[index] ?? '', session);
    return { header, answer: valueOf(result) };
  };
  const latest = tagged(0);
  const { number } = latest.header;
  const depth = finality.kind === 'tag' ? 0n : finality.blocks;
  const finalised =
    finality.kind === 'tag'
      ? tagged(1)
      : await readHeader(session, number > depth ? number - depth : 0n);
  if (finalised.header.number > latest.header.number) {
    throw new MalformedAnswerError('the final block is above the newest', session);
  }
  return { latest, finalised };
}

/** @throws NodeBehindError where the node does not have the block; MalformedAnswerError */
async function readHeader(session: RpcSession, number: bigint): Promise<AnsweredHeader> {
  const { results } = await session.batch([headerCall(number)]);
  const answer = valueOf(results[0]);
  const header = parseHeaderOf(answer, number, session);
  if (header) return { header, answer };
  throw new BlockMissingError(number, session);
}

/** Which block is final: by a tag of the node, or as a number of blocks below its newest. */
export type Finality =
  | { readonly kind: 'tag'; readonly tag: 'finalized' | 'safe' }
  | { readonly kind: 'depth'; readonly blocks: bigint };

/** Parses the setting FINALITY: `finalized`, `safe` or `depth:<blocks>`. @throws PermanentError */
export function parseFinality(text: string): Finality {
  if (text === 'finalized' || text === 'safe') return { kind: 'tag', tag: text };
  const depth = /^depth:(\d{1,7})$/.exec(text)?.[1];
  if (depth !== undefined) return { kind: 'depth', blocks: BigInt(depth) };
  throw new PermanentError(
    'FINALITY_INVALID',
    'FINALITY must be finalized, safe or depth:<number of blocks>.',
  );
}
