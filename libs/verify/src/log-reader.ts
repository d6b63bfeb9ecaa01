/** Reads the logs of a long range of blocks, in parts as large as the node accepts. */
import { UncheckedError } from './verify.error.js';
import { type RawLog } from './effect-decoder.js';
import { type LogRange, type NodeClient, backoff } from './node-client.js';

const FIRST_SIZE = 10_000n;
const MAX_SIZE = 500_000n;
/** Number of successful parts after which the limit of the size doubles. */
const SUCCESSES_BEFORE_GROWTH = 8;
/** Attempts for a single block, or at a node that cannot be reached. */
const ATTEMPTS = 6;

/** Blocks per `eth_getLogs` request: half as many after a refusal, and more again after successful parts. */
class RangeSize {
  blocks = FIRST_SIZE;
  private ceiling = MAX_SIZE;
  private answered = 0;

  answer(): void {
    this.answered += 1;
    if (this.answered % SUCCESSES_BEFORE_GROWTH === 0)
      this.ceiling = least(this.ceiling * 2n, MAX_SIZE);
    this.blocks = least(this.blocks * 2n, this.ceiling);
  }

  /** @param asked number of blocks that were requested */
  refuse(asked: bigint): void {
    this.answered = 0;
    this.blocks = asked > 1n ? asked / 2n : 1n;
    this.ceiling = this.blocks;
  }
}

export class LogReader {
  private readonly size = new RangeSize();

  constructor(
    private readonly node: NodeClient,
    private readonly wait: (attempt: number) => Promise<void> = backoff,
  ) {}

  /** Parts in ascending order, each up to and including block `to`. @throws UncheckedError */
  async *parts(range: LogRange): AsyncGenerator<{ logs: readonly RawLog[]; to: bigint }> {
    let { from } = range;
    let failures = 0;
    while (from <= range.to) {
      const to = least(from + this.size.blocks - 1n, range.to);
      const answer = await this.node.logs({ ...range, from, to });
      if ('failure' in answer) {
        const isLast = answer.isTransient || from === to;
        failures = isLast ? failures + 1 : 0;
        if (failures >= ATTEMPTS)
          throw this.node.silence(`the logs of blocks ${from} to ${to}`, answer.failure);
        if (!answer.isTransient) this.size.refuse(to - from + 1n);
        if (isLast) await this.wait(failures);
        continue;
      }
      failures = 0;
      requireInside(answer.logs, { ...range, from, to });
      this.size.answer();
      yield { logs: answer.logs, to };
      from = to + 1n;
    }
  }
}

function requireInside(logs: readonly RawLog[], { addresses, from, to, topics }: LogRange): void {
  for (const log of logs) {
    const number = BigInt(log.blockNumber);
    const isOurs =
      addresses.some((address) => address === log.address.toLowerCase()) &&
      topics.some((topic) => topic === log.topics[0]);
    if (isOurs && number >= from && number <= to && log.removed !== true) continue;
    throw new UncheckedError(
      `The node sent a log of block ${number} that was not asked for: ask another one.`,
    );
  }
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
