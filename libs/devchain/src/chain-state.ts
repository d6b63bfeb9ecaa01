import { open, rename } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type DevChain } from './anvil.js';

/**
 * Writes the chain as it is now to a file that `launchDevChain({ stateFile })` starts from: blocks, receipts and logs with
 * their hashes, and the newest state (older states are not kept: `eth_call` at an older block fails after a restart).
 * The file is complete or not touched, whatever happens meanwhile.
 */
export async function saveChainState(chain: DevChain, file: string): Promise<void> {
  const packed = await chain.rpc.call<string>('anvil_dumpState');
  const state = await promisify(gunzip)(Buffer.from(packed.slice(2), 'hex'));
  const unfinished = `${file}.part`;
  const handle = await open(unfinished, 'w');
  try {
    await handle.writeFile(state);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(unfinished, file);
}
