/** Reads the roots in a registry, by two providers if there are two. */
import { type Address, type BlockRef, type NodeHash, PermanentError } from '#libs/domain';
import { EndpointsDisagreeError, MalformedAnswerError } from '../rpc/rpc.errors.js';
import { FINAL_BLOCK_CODES, FinalBlocks, parseFinality } from '../reader/final-blocks.js';
import { ethCall, PinnedCalls } from '../calls/pinned-calls.js';
import { questionTo, Quorum } from '../quorum/quorum.js';
import { type RpcResult, valueOf } from '../rpc/rpc-call.js';
import { type RpcSession } from '../rpc/question.js';
import { type RpcPool } from '../rpc/rpc-pool.js';
import { bytes, type Hex, quantity } from '../rpc/hex.js';
import { rootIn, rootOfCalldata } from './registry-root.js';

interface RegistryReaderOptions {
  readonly registry: Address;
  /** FINALITY: `finalized`, `safe` or `depth:<blocks>`. */
  readonly finality: string;
  /** Our clock, which final blocks are compared with; default: the pool's. */
  readonly clock?: { nowMs(): number };
}

/** The root that the registry holds for a day; undefined: none. */
export interface HeldRoot {
  /** At the newest final block, as all asked endpoints have it. */
  readonly final: NodeHash | undefined;
  /** At the newest block of each of these endpoints. */
  readonly latest: readonly (NodeHash | undefined)[];
}

export interface RegistrySight {
  readonly final: BlockRef;
  /** In the order of the days. */
  readonly roots: readonly HeldRoot[];
  /** Number of the account's transactions in final blocks. */
  readonly finalNonce: number;
  /** Number of the account's transactions up to the newest block of each endpoint. */
  readonly latestNonces: readonly number[];
}

/** The statement of one endpoint, at the final block that both hold and at its own newest block. */
interface EndpointReading {
  readonly endpoint: string;
  readonly final: readonly (NodeHash | undefined)[];
  readonly finalNonce: number;
  readonly latest: readonly (NodeHash | undefined)[];
  readonly latestNonce: number;
}

/** Days in one call of `look`. */
export const DAYS_AT_ONCE = 50;

export class RegistryReader {
  private readonly finals: FinalBlocks;
  private readonly calls = new PinnedCalls();

  /** @throws PermanentError where FINALITY is wrong */
  constructor(
    private readonly pool: RpcPool,
    private readonly options: RegistryReaderOptions,
  ) {
    const { finality, clock = pool } = options;
    this.finals = new FinalBlocks(pool, parseFinality(finality), clock);
  }

  /**
   * If there are two providers, two must answer, so that nothing is published on the statement of one.
   * @param days counted from 1970-01-01 UTC
   * @param account the account whose transactions are counted
   * @throws EndpointsDisagreeError, reported to the pool's observer as well; AllEndpointsFailedError; PermanentError
   * where there is no contract at the address
   */
  async look(days: readonly number[], account: Address): Promise<RegistrySight> {
    const [one, other] = await this.finals.ofTwo({ mustBeTwo: true });
    const final = other ? await this.finals.requireAgreement(one, other) : one.block;
    const [{ value: first }, second] = await new Quorum(this.pool.endpoints).two(
      questionTo(this.pool, (session) => this.lookBy(session, { days, account, final })),
      { mustBeTwo: true },
    );
    if (second) this.requireSame(first, second.value, final);
    const looks = second ? [first, second.value] : [first];
    return {
      final,
      finalNonce: first.finalNonce,
      latestNonces: looks.map(({ latestNonce }) => latestNonce),
      roots: days.map((_, index) => ({
        final: first.final[index],
        latest: looks.map(({ latest }) => latest[index]),
      })),
    };
  }

  private async lookBy(
    session: RpcSession,
    asked: { days: readonly number[]; account: Address; final: BlockRef },
  ): Promise<EndpointReading> {
    const { days, account, final } = asked;
    const { registry: to } = this.options;
    const calls = days.map((day) => ({ to, data: rootOfCalldata(day) }));
    const count = (block: unknown) => ({
      method: 'eth_getTransactionCount',
      params: [account, block],
    });
    const atFinal = await this.calls.data(session, calls, final);
    const [counted] = await this.calls.ask(session, (block) => [count(block)], final);
    const { results } = await session.batch([
      count('latest'),
      ...calls.map((call) => ethCall(call, 'latest')),
    ]);
    const [now, ...latest] = results;
    return {
      endpoint: session.endpoint,
      final: days.map((_, index) => this.root(atFinal[index], session)),
      finalNonce: nonceOf(counted, session),
      latest: days.map((_, index) => {
        const data = bytes(valueOf(latest[index]));
        // An address without a contract answers nothing. It would accept the transaction without storing a root.
        if (data === '0x') {
          throw new PermanentError(
            'REGISTRY_NOT_THERE',
            `REGISTRY_ADDRESS: there is no contract at ${to}. Correct it; contracts/deploy-registry.mjs makes one.`,
          );
        }
        return this.root(data, session);
      }),
      latestNonce: nonceOf(now, session),
    };
  }

  private root(data: Hex | undefined, session: RpcSession): NodeHash | undefined {
    try {
      return rootIn(data ?? '0x0');
    } catch {
      throw new MalformedAnswerError('the registry answers in another form', session);
    }
  }

  /** Where two endpoints differ about a final block, one of them is wrong. */
  private requireSame(one: EndpointReading, other: EndpointReading, { number }: BlockRef): void {
    const differs =
      one.finalNonce !== other.finalNonce ||
      one.final.some((root, index) => root !== other.final[index]);
    if (!differs) return;
    const endpoints = `${one.endpoint}, ${other.endpoint}`;
    const text = `${endpoints} differ about the registry at final block ${number.toString()}`;
    this.pool.warn(endpoints, FINAL_BLOCK_CODES.disagree, text);
    throw new EndpointsDisagreeError(text);
  }
}

function nonceOf(result: RpcResult | undefined, session: RpcSession): number {
  const count = quantity(valueOf(result));
  if (count === undefined) throw new MalformedAnswerError('a nonce is no number', session);
  return count;
}
