/** A provider of the simulated chain: slow, behind, dropping answers, on another fork, or lying. */
import { type PostBody } from '#libs/chain';
import { type Address } from '#libs/domain';
import { type CallEnd, type Choices, type Scheduler } from '../../kernel/index.js';
import {
  type Answer,
  answerTo,
  type Call,
  type NodeView,
} from '../../../../libs/testing/src/fake-node/honest-node.js';
import {
  type Block,
  branchOf,
  type SimulatedChain,
  type StakeEvent,
} from '../../../../libs/testing/src/fake-node/simulated-chain.js';

/**
 * What a provider may say that is not so. `one log`: it leaves out one log of the whole chain, now and then. `all`: any
 * log, amount, wallet or time, now and then.
 */
export type Lies = 'none' | 'one log' | 'all';

export interface ProviderTraits {
  readonly name: string;
  readonly lies: Lies;
  readonly hasTotal: boolean;
  /** How many answers of 1,000 are faulty. */
  readonly faultsPerMille: number;
}

/** Against 1,000 other answers. */
const LIE_WEIGHT = 250;

type Posted = Awaited<ReturnType<PostBody>>;

interface Lie {
  readonly block: Block;
  readonly events: readonly StakeEvent[];
  readonly secondsAhead: number;
}

export class SimulatedProvider {
  private head: Block;
  private final: Block;
  private lie: Lie | undefined;

  constructor(
    private readonly chain: SimulatedChain,
    private readonly scheduler: Scheduler,
    private readonly choices: Choices,
    private readonly traits: ProviderTraits,
  ) {
    this.head = chain.head;
    this.final = chain.final;
  }

  post({ body, signal }: Parameters<PostBody>[1]): Promise<Posted> {
    const asked = JSON.parse(body) as Call | Call[];
    const calls = Array.isArray(asked) ? asked : [asked];
    const ok = (answers: readonly Answer[]): Posted => {
      const list = answers.map((answer) => ({ jsonrpc: '2.0', ...answer }));
      return posted(200, JSON.stringify(Array.isArray(asked) ? list : list[0]));
    };
    const { name } = this.traits;
    return this.scheduler.call({
      name: `asks ${name} ${textOf(calls)}`,
      ends: this.ends(calls, ok),
      signal,
    });
  }

  /** @param ok makes the body of answers */
  private ends(
    calls: readonly Call[],
    ok: (answers: readonly Answer[]) => Posted,
  ): [CallEnd<Posted>, ...CallEnd<Posted>[]] {
    const { lies, faultsPerMille } = this.traits;
    const answers: CallEnd<Posted> = {
      name: 'answers',
      weight: 1000 - faultsPerMille,
      run: () => ok(this.answers(calls)),
    };
    const faults: [string, (() => Posted) | undefined][] = [
      ['503', () => posted(503, 'overloaded')],
      ['429', () => posted(429, 'slow down', { 'retry-after': '1' })],
      ['connection reset', reset],
      ['silence', undefined],
      ['an answer cut off', () => posted(200, JSON.stringify(this.answers(calls)).slice(0, -9))],
      ['one call fails', () => ok(withFailure(this.answers(calls), this.choices))],
      ['out of order', () => ok(this.answers(calls).reverse())],
      ['answers from the block before', () => ok(this.answersFrom(calls, this.older()))],
    ];
    const weight = Math.floor(faultsPerMille / faults.length);
    const ends: [CallEnd<Posted>, ...CallEnd<Posted>[]] = [
      answers,
      ...faults.map(([name, run]) => ({ name, weight, ...(run && { run }) })),
    ];
    if (lies !== 'none')
      ends.push({
        name: 'lies',
        weight: LIE_WEIGHT,
        run: () => ok(this.answersFrom(calls, this.lyingView(calls))),
      });
    return ends;
  }

  private answers(calls: readonly Call[]): Answer[] {
    return this.answersFrom(calls, this.view());
  }

  private answersFrom(calls: readonly Call[], view: NodeView): Answer[] {
    return calls.map((call) => answerTo(view, call));
  }

  /** Now and then the provider has not got the newest blocks yet, or is still on a fork that was given up. */
  private view(): NodeView {
    const { chain, scheduler, choices } = this;
    if (scheduler.isCalm || !choices.chance('provider behind', 120)) {
      this.head = chain.head;
      this.final = chain.final;
    }
    return this.viewOf(this.head);
  }

  private older(): NodeView {
    const { number, parent } = this.head;
    return this.viewOf(parent && number > this.final.number ? parent : this.head);
  }

  private viewOf(head: Block): NodeView {
    return {
      head,
      final: this.final,
      hasTotal: this.traits.hasTotal,
      eventsOf: ({ events }) => events,
      secondsOf: ({ seconds }) => seconds,
      centsOf: ({ round }) => round.answer,
    };
  }

  private lyingView(calls: readonly Call[]): NodeView {
    const honest = this.view();
    const isOneLog = this.traits.lies === 'one log';
    const repeats = this.lie !== undefined && (isOneLog || this.choices.chance('same lie', 500));
    if (!repeats) this.lie = this.newLie(isOneLog, calls);
    const { lie } = this;
    if (lie === undefined) return honest;
    return {
      ...honest,
      eventsOf: (block) => (block === lie.block ? lie.events : block.events),
      secondsOf: (block) => block.seconds + (block === lie.block ? lie.secondsAhead : 0),
      centsOf: ({ round }) => round.answer + (isOneLog ? 0 : 1),
    };
  }

  /** A lie about a block that is asked for, if there is one. */
  private newLie(isOneLog: boolean, calls: readonly Call[]): Lie | undefined {
    const { choices } = this;
    const { from, to } = askedRange(calls);
    const busy = branchOf(this.head).filter(
      ({ number, events }) => events.length > 0 && number >= from && number <= to,
    );
    if (busy.length === 0) return undefined;
    const block = choices.pick('lie block', busy);
    const { events } = block;
    const at = choices.int('lie event', events.length);
    const event = events[at];
    if (event === undefined) return undefined;
    const instead = (...others: StakeEvent[]): Lie => ({
      block,
      events: events.toSpliced(at, 1, ...others),
      secondsAhead: 0,
    });
    switch (isOneLog ? 0 : choices.int('lie kind', 5)) {
      case 0:
        return instead();
      case 1:
        return instead(event, { ...event, amount: 5n });
      case 2:
        return instead({ ...event, amount: event.amount * 2n });
      case 3:
        return instead({ ...event, wallet: `0x${'e'.repeat(40)}` as Address });
      default:
        return { block, events, secondsAhead: choices.pick('lie seconds', [1, 3600, 86_400, -1]) };
    }
  }
}

/** The range of the first call for logs; without one, all blocks. */
function askedRange(calls: readonly Call[]): { from: number; to: number } {
  const asked = calls.find(({ method }) => method === 'eth_getLogs')?.params[0];
  const { fromBlock, toBlock } = (asked ?? {}) as { fromBlock?: string; toBlock?: string };
  if (fromBlock === undefined) return { from: 0, to: Infinity };
  return { from: Number(fromBlock), to: Number(toBlock) || Infinity };
}

function posted(statusCode: number, text: string, headers: Record<string, string> = {}): Posted {
  return { statusCode, headers, body: bytesOf(text) };
}

// eslint-disable-next-line @typescript-eslint/require-await
async function* bytesOf(text: string): AsyncGenerator<Buffer, void, undefined> {
  yield Buffer.from(text);
}

function reset(): never {
  throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
}

function withFailure(answers: readonly Answer[], choices: Choices): Answer[] {
  const at = choices.int('failed call', answers.length);
  return answers.map((answer, place) =>
    place === at ? { id: answer.id, error: { code: -32000, message: 'header not found' } } : answer,
  );
}

/** The calls in short, for the trace. */
function textOf(calls: readonly Call[]): string {
  return calls
    .map(({ method, params }) => {
      const [first, second] = params as [unknown, unknown];
      const name = method.replace('eth_', '');
      if (method === 'eth_getLogs') {
        const { fromBlock, toBlock, blockHash } = first as Record<string, string>;
        return blockHash === undefined
          ? `${name} ${Number(fromBlock)}..${blockText(toBlock)}`
          : `${name} ${shortHash(blockHash)}`;
      }
      if (method === 'eth_call') return `call ${blockText(second)}`;
      return first === undefined ? name : `${name} ${blockText(first)}`;
    })
    .join(', ');
}

function blockText(tag: unknown): string {
  if (typeof tag === 'object' && tag !== null)
    return shortHash((tag as { blockHash: string }).blockHash);
  const text = String(tag);
  if (text.length === 66) return shortHash(text);
  return /^0x[0-9a-f]{1,8}$/.test(text) ? String(Number(text)) : text.slice(0, 12);
}

/** Number and ordinal of a simulated block. */
export function shortHash(hash: string): string {
  return `#${parseInt(hash.slice(-16, -8), 16)}.${parseInt(hash.slice(-8), 16)}`;
}
