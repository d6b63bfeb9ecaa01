import { setTimeout as sleep } from 'node:timers/promises';
import { type DevChain, type DevChainExit, type DevChainOptions, DevRpc } from '#libs/devchain';
import { StackError } from '../stack.error.js';

const TRIES = 60;
const PAUSE_MS = 1_000;
const LOOK_EVERY_MS = 2_000;

/**
 * A chain that another process runs, used as the demonstration's chain. Its chain id is its own; whether it is the one that was saved is for
 * `options.stateFile` to say: without one it has to be new.
 * @throws StackError where it does not answer within a minute, or does not hold what it should
 */
export async function attachChain(url: string, options: DevChainOptions): Promise<DevChain> {
  const rpc = new DevRpc(url);
  const head = await newestBlock(rpc);
  if ((head === 0) !== (options.stateFile === undefined)) {
    rpc.close();
    throw new StackError(
      head === 0
        ? 'The chain began anew though its state was saved: restart it, so that it reads the saved state.'
        : 'The chain holds the rest of a history that was never finished: restart it, so that it begins anew.',
    );
  }
  const ending = new AbortController();
  return {
    url,
    chainId: Number(await rpc.call<string>('eth_chainId')),
    pid: 0,
    rpc,
    exited: watch(rpc, await instanceOf(rpc), ending.signal),
    stop: () => {
      ending.abort();
      rpc.close();
      return Promise.resolve();
    },
  };
}

/** Resolves when the chain is gone, or another one has taken its place: it comes back so quickly that no call need fail. */
async function watch(rpc: DevRpc, instance: string, signal: AbortSignal): Promise<DevChainExit> {
  const ended = (tail: string): DevChainExit => ({ code: null, signal: null, tail });
  try {
    while (!signal.aborted) {
      await sleep(LOOK_EVERY_MS, undefined, { signal, ref: false });
      if ((await instanceOf(rpc)) !== instance) return ended('it was started again');
    }
  } catch (error) {
    if (!signal.aborted) return ended(`it does not answer: ${String(error)}`);
  }
  return ended('');
}

/** Another one whenever anvil starts. */
async function instanceOf(rpc: DevRpc): Promise<string> {
  return (await rpc.call<{ readonly instanceId: string }>('anvil_metadata')).instanceId;
}

async function newestBlock(rpc: DevRpc): Promise<number> {
  for (let left = TRIES; ; left--) {
    try {
      return Number(await rpc.call<string>('eth_blockNumber'));
    } catch (cause) {
      if (left === 0) throw new StackError(`The chain at ${rpc.url} does not answer.`, { cause });
      await sleep(PAUSE_MS);
    }
  }
}
