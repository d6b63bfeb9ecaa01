/** Puts a store behind the scheduler: each of its calls is answered, fails, or is carried out without an answer. */
import { DatabaseUnavailableError } from '#libs/db';
import { type LowmarkError } from '#libs/domain';
import { type Scheduler } from '../kernel/index.js';

interface StoreFaults {
  /** For the trace. */
  readonly name: string;
  /** How many calls of 1,000 fail. */
  readonly faultsPerMille: number;
  /** Is told what the database refused to write, which a right program never asks for. */
  readonly onRefusal?: (error: LowmarkError) => void;
  readonly onCall?: StoreCall;
}

/** Sees each call as it is carried out. */
export type StoreCall = (method: string, values: readonly unknown[], result: unknown) => void;

/** Methods that write: what they did stands although their answer may be lost. */
const WRITES: ReadonlySet<string> = new Set([
  ...['create', 'takeLead', 'commit', 'rollback', 'rewind', 'recountTotal', 'halt', 'clearHalt'],
  ...['recordFinding', 'record', 'hold', 'seal', 'forgetLists', 'recheck', 'rechecked'],
]);

/** Refusals that only a fault of the program brings about. */
const FAULTS = new Set(['DATABASE_REFUSED', 'WRONG_WALLET_STATE']);

export function throughScheduler<T extends object>(
  store: T,
  scheduler: Scheduler,
  { name, faultsPerMille, onRefusal, onCall }: StoreFaults,
): T {
  const call = (method: string, work: () => Promise<unknown>): Promise<unknown> => {
    const isWrite = WRITES.has(method);
    const unavailable = (): never => {
      throw new DatabaseUnavailableError(new Error('connection terminated'));
    };
    return scheduler.call({
      name: `${name} ${method}`,
      outlivesProcess: isWrite,
      ends: [
        { name: 'done', weight: 1000 - faultsPerMille, run: work },
        { name: 'fails', weight: faultsPerMille / 2, run: unavailable },
        {
          name: isWrite ? 'done, and the answer is lost' : 'fails',
          weight: faultsPerMille / 2,
          run: isWrite ? () => work().then(unavailable) : unavailable,
        },
      ],
    });
  };
  return new Proxy(store, {
    get: (target, method): unknown => {
      const value: unknown = Reflect.get(target, method);
      if (typeof value !== 'function' || typeof method !== 'string') return value;
      return (...values: unknown[]) =>
        call(method, async () => {
          try {
            const result: unknown = await Reflect.apply(value, target, values);
            onCall?.(method, values, result);
            return result;
          } catch (error) {
            if (FAULTS.has((error as LowmarkError).code)) onRefusal?.(error as LowmarkError);
            throw error;
          }
        });
    },
  });
}
