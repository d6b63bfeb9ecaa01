/**
 * "Two must agree", for questions about which one provider could be wrong. Every provider that answers counts, whichever
 * answers first.
 */
import { unlessAllFail, unlessOutage } from '../rpc/rpc.errors.js';
import {
  countProviders,
  OUTAGE_PATIENCE_MS,
  ownProvider,
  providerOf,
} from '../rpc/endpoint-urls.js';
import { type RpcSession } from '../rpc/question.js';
import { type RpcPool, type RunOptions } from '../rpc/rpc-pool.js';

export interface Statement<T> {
  readonly endpoint: string;
  readonly value: T;
}

type AskOptions = Pick<RunOptions, 'avoid' | 'patienceMs'>;
type AskProvider<T> = (options: AskOptions) => Promise<Statement<T> | undefined>;
type Equal<T> = (one: T, other: T) => boolean;

export interface Others {
  /** A second provider must answer: its outage is thrown. */
  readonly mustBeTwo?: boolean;
  /** Another provider is passed over whatever its failure is, not only if it is out. */
  readonly mayFail?: boolean;
}

interface QuorumOptions<T> extends Others {
  /** What one provider has said already; by default the first one is asked, without a limit of its own. */
  readonly first?: Statement<T>;
}

/** A question to the endpoints of a pool. */
export function questionTo<T>(
  pool: RpcPool,
  ask: (session: RpcSession) => Promise<T>,
  signal?: AbortSignal,
): (options: AskOptions) => Promise<Statement<T>> {
  return (options) =>
    pool.run(async (session) => ({ endpoint: session.endpoint, value: await ask(session) }), {
      ...options,
      signal,
    });
}

/** Asks, and notes which endpoint answers. Undefined if none can say. */
export async function askStatement<T>(
  ask: (options: { readonly saidBy: (endpoint: string) => void }) => Promise<T | undefined>,
): Promise<Statement<T> | undefined> {
  let endpoint = '';
  const value = await ask({
    saidBy: (name) => {
      endpoint = name;
    },
  });
  return value === undefined ? undefined : { endpoint, value };
}

export class Quorum {
  /** @param endpoints the names of all endpoints */
  constructor(private readonly endpoints: readonly string[]) {}

  /**
   * Asks one provider after the other until two of them say the same. A provider that is out is passed over.
   * @param question answers undefined if no endpoint that may be asked can say, and the value undefined if this provider
   * cannot
   * @returns what each provider says, in the order of asking; empty if none can say
   */
  async ask<T>(
    question: AskProvider<T | undefined>,
    equal: Equal<T>,
    { first, mustBeTwo = false, mayFail = false }: QuorumOptions<T> = {},
  ): Promise<readonly Statement<T>[]> {
    const unlessOut = mayFail ? unlessAllFail : unlessOutage;
    const said: Statement<T>[] = [];
    const avoid: string[] = [];
    let next = first ?? (await question({}));
    for (let others = countProviders(this.endpoints) - 1; next; others--) {
      avoid.push(...ownProvider(next.endpoint, this.endpoints));
      if (isSaid(next)) said.push(next);
      if (agreed(said, equal) || others <= 0) break;
      const options = { avoid: [...avoid] };
      next =
        mustBeTwo && said.length < 2
          ? await question(options)
          : await unlessOut(question({ ...options, patienceMs: OUTAGE_PATIENCE_MS }));
    }
    return said;
  }

  /**
   * The same, after one provider has said something that would have consequences: if no other one answers, the question
   * is asked once more.
   * @returns undefined if it cannot be answered any more
   */
  async confirm<T>(
    question: AskProvider<T>,
    equal: Equal<T>,
    first: Statement<T>,
  ): Promise<readonly Statement<T>[] | undefined> {
    const said = await this.ask(question, equal, { first });
    if (said.length > 1) return said;
    const again = await question({});
    return again && [first, again];
  }

  /** What two providers say, whether they agree or not. Without another provider that answers, what the first one says. */
  async two<T>(
    question: (options: AskOptions) => Promise<Statement<T>>,
    others: Others,
  ): Promise<readonly [Statement<T>, Statement<T> | undefined]> {
    const first = await question({});
    const [, second] = await this.ask(question, () => true, { first, ...others });
    return [first, second];
  }
}

function isSaid<T>(statement: Statement<T | undefined>): statement is Statement<T> {
  return statement.value !== undefined;
}

/** What counts of all statements: the one of two providers, or the only one. Undefined if providers differ. */
export function accepted<T>(
  said: readonly Statement<T>[],
  equal: Equal<T>,
): Statement<T> | undefined {
  return said.length > 1 ? agreed(said, equal) : said[0];
}

/** A statement that two providers make. */
export function agreed<T>(
  said: readonly Statement<T>[],
  equal: Equal<T>,
): Statement<T> | undefined {
  return said.find((one) =>
    said.some(
      (other) =>
        providerOf(other.endpoint) !== providerOf(one.endpoint) && equal(one.value, other.value),
    ),
  );
}

/**
 * What counts after a value was found to differ from the known one: what is said twice; else the known value if it is
 * said once, since the events say it too; else what was said first.
 */
export function believed<T extends bigint>(known: T, [first = known, ...others]: readonly T[]): T {
  const said = [first, ...others];
  const twice = said.find((value, place) => said.indexOf(value) < place);
  return twice ?? (said.includes(known) ? known : first);
}
