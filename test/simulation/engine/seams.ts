/** The seams of a process: each call to the ledger and to a node becomes a step of the scheduler. */
import { type PostBody } from '#libs/chain';
import { DatabaseUnavailableError } from '#libs/db';
import { type CallEnd, type Scheduler } from '../kernel/index.js';
import { type SimulatedNode } from './node.js';

type Method = (...parts: unknown[]) => Promise<unknown>;

/**
 * A store whose calls wait for the scheduler. A call may fail before it was made, or after: then the caller does not
 * learn what became of it.
 */
export function storeThroughSeam<T extends object>(
  store: T,
  name: string,
  { scheduler, faultsPerMille }: { scheduler: Scheduler; faultsPerMille: () => number },
): T {
  const { hasDue, hasDuePayouts } = store as Partial<Record<string, (request: unknown) => boolean>>;
  const finds = new Map([
    ['lease', hasDue],
    ['takePayouts', hasDuePayouts],
  ]);
  return new Proxy(store, {
    get: (target, property, receiver): unknown => {
      const value: unknown = Reflect.get(target, property, receiver);
      if (typeof value !== 'function') return value;
      const method = value as Method;
      return (...parts: unknown[]): Promise<unknown> => {
        const run = (): Promise<unknown> => method.apply(target, parts);
        // A lease that finds nothing changes nothing: most sweeps are of this kind.
        if (finds.get(String(property))?.call(target, parts[0]) === false) return run();
        const faults = faultsPerMille();
        const ends: CallEnd<unknown>[] =
          faults === 0
            ? []
            : [
                { name: 'fails', weight: faults, run: fail },
                {
                  name: 'done, answer lost',
                  weight: faults,
                  run: () => run().then(fail, fail),
                },
              ];
        return scheduler.call({
          name: `${name}.${String(property)}`,
          outlivesProcess: true,
          ends: [{ name: 'done', weight: 1000, run }, ...ends],
        });
      };
    },
  });
}

function fail(): never {
  throw new DatabaseUnavailableError(new Error('the connection was lost'));
}

/** Requests to the nodes. */
export function nodesThroughSeam(
  nodes: readonly SimulatedNode[],
  { scheduler, faultsPerMille }: { scheduler: Scheduler; faultsPerMille: () => number },
): PostBody {
  const byUrl = new Map(nodes.map((node) => [new URL(node.url).href, node]));
  return async (url, { body, signal }) => {
    const node = byUrl.get(url);
    if (node === undefined) throw new Error(`there is no node at ${url}`);
    const faults = faultsPerMille();
    const methods = [...new Set([...body.matchAll(/"method":"eth_(\w+)"/g)].map(([, one]) => one))];
    const answer = (statusCode: number, text: string) => ({
      statusCode,
      headers: {},
      body: bytesOf(text),
    });
    const failing: CallEnd<ReturnType<typeof answer>>[] =
      faults === 0
        ? []
        : [
            {
              name: 'reset',
              weight: faults,
              run: () => {
                throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
              },
            },
            { name: '503', weight: faults, run: () => answer(503, '') },
            { name: 'no answer', weight: Math.ceil(faults / 4) },
          ];
    return scheduler.call({
      name: `rpc ${node.name} ${methods.join('+')}`,
      signal,
      ends: [{ name: 'done', weight: 1000, run: () => answer(200, node.answer(body)) }, ...failing],
    });
  };
}

async function* bytesOf(text: string): AsyncGenerator<Buffer> {
  await Promise.resolve();
  yield Buffer.from(text);
}
