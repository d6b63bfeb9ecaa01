import { createHash } from 'node:crypto';
import { type RedisLink } from './redis-link.js';

/** A Lua script with the SHA-1 by which Redis caches it. */
interface Script {
  readonly text: string;
  readonly sha: string;
}

/** @param body may use `now`, Unix milliseconds by the clock of Redis; ARGV[1] is reserved for `now` */
export function scriptOf(body: string): Script {
  const text = NOW + body;
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

const NOW = `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + time[2] / 1000
end
`;

interface ScriptInput {
  readonly keys: readonly string[];
  /** Passed as ARGV[2] and the following. */
  readonly args: readonly (string | number)[];
}

export class Scripts {
  constructor(
    private readonly link: RedisLink,
    /** Unix milliseconds in place of the clock of Redis, for tests. */
    private readonly nowMs?: () => number,
  ) {}

  run({ text, sha }: Script, { keys, args }: ScriptInput): Promise<unknown> {
    const now = this.nowMs?.() ?? '';
    return this.link.run(async (redis) => {
      try {
        return await redis.evalsha(sha, keys.length, ...keys, now, ...args);
      } catch (error) {
        // Redis has restarted, or runs this script for the first time.
        if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
        return redis.eval(text, keys.length, ...keys, now, ...args);
      }
    });
  }
}

/**
 * Coalesces the requests of one turn of the event loop into one command. Each command has a fixed cost, in this process
 * and in Redis, that is higher than the cost of one request.
 */
export class TurnBatch<Q, A> {
  private questions: Q[] = [];
  private answers: Promise<readonly A[]> | undefined;

  /** @param run returns one answer for each question, in the order of the questions */
  constructor(private readonly run: (questions: readonly Q[]) => Promise<readonly A[]>) {}

  async ask(question: Q): Promise<A> {
    const place = this.questions.push(question) - 1;
    this.answers ??= new Promise((resolve) => {
      setImmediate(() => {
        const { questions } = this;
        this.questions = [];
        this.answers = undefined;
        resolve(this.run(questions));
      });
    });
    return (await this.answers)[place] as A;
  }
}
