/**
 * "Two must agree", for questions about which one provider could be wrong. Every provider that answers counts, whichever
 * answers first.
 */
import { unlessOutage } from '../errors/rpc.errors.js';
import { OUTAGE_PATIENCE_MS, ownProvider, providerOf } from '../rpc/endpoint-urls.js';
import { type RunOptions } from '../rpc/rpc-pool.js';

export interface Statement<T> {
  readonly endpoint: string;
  readonly value: T;
}

type Question<T> = (
  options: Pick<RunOptions, 'avoid' | 'patienceMs'>,
) => Promise<Statement<T> | undefined>;
type Equal<T> = (one: T, other: T) => boolean;

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
   * @param question answers undefined if no endpoint that may be asked can say
   * @param first what one provider has said already; by default the first one is asked, without a limit of its own
   * @returns what each provider says, in the order of asking; empty if the first one cannot say
   */
  async ask<T>(
    question: Question<T>,
    equal: Equal<T>,
    first?: Statement<T>,
  ): Promise<readonly Statement<T>[]> {
    const begun = first ?? (await question({}));
    const said = begun ? [begun] : [];
    while (said.length > 0 && agreed(said, equal) === undefined) {
      const avoid = said.flatMap(({ endpoint }) => ownProvider(endpoint, this.endpoints));
      if (this.endpoints.every((endpoint) => avoid.includes(endpoint))) break;
      const next = await unlessOutage(question({ avoid, patienceMs: OUTAGE_PATIENCE_MS }));
      if (next === undefined) break;
      said.push(next);
    }
    return said;
  }

  /**
   * The same, after one provider has said something that would have consequences: if no other one answers, the question
   * is asked once more.
   * @returns undefined if it cannot be answered any more
   */
  async confirm<T>(
    question: Question<T>,
    equal: Equal<T>,
    first: Statement<T>,
  ): Promise<readonly Statement<T>[] | undefined> {
    const said = await this.ask(question, equal, first);
    if (said.length > 1) return said;
    const again = await question({});
    return again && [first, again];
  }
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
