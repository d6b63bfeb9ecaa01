import { createHash } from 'node:crypto';
import { type RedisConnection } from './redis-link.js';

/** A Lua script with the name under which Redis keeps it. */
interface Script {
  readonly text: string;
  readonly sha: string;
}

/** @param body may use `now`, Unix milliseconds by Redis' own clock; ARGV[1] is taken by it */
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
  /** From ARGV[2] on. */
  readonly args: readonly (string | number)[];
}

export class Scripts {
  constructor(
    private readonly link: RedisConnection,
    /** Unix milliseconds in place of Redis' clock, for tests. */
    private readonly nowMs?: () => number,
  ) {}

  /** @throws RedisUnavailableError */
  run({ text, sha }: Script, { keys, args }: ScriptInput): Promise<unknown> {
    const now = this.nowMs?.() ?? '';
    return this.link.run(async (redis) => {
      try {
        return await redis.evalsha(sha, keys.length, ...keys, now, ...args);
      } catch (error) {
        // Redis was started anew, or this is the first time.
        if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
        return redis.eval(text, keys.length, ...keys, now, ...args);
      }
    });
  }
}

/**
 * Gathers what is asked during one turn of the event loop and asks it together: a command costs more than what it asks, here
 * as well as in Redis.
 */
export class TurnBatch<Q, A> {
  private questions: Q[] = [];
  private answers: Promise<readonly A[]> | undefined;

  /** @param run answers in the order of the questions, as many as there are */
  constructor(private readonly run: (questions: readonly Q[]) => Promise<readonly A[]>) {}

  /** @throws what `run` throws */
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
