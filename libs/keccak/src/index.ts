/**
 * Keccak-256 for many short inputs, in WebAssembly, which is several times faster than JavaScript
 * (`npm run bench -- days` measures it). Node's own crypto has only SHA-3, whose padding differs.
 */
import { createKeccak } from 'hash-wasm';
import { type Keccak256 } from '#libs/domain';

export async function createKeccak256(): Promise<Keccak256> {
  const hasher = await createKeccak(256);
  return (bytes) => hasher.init().update(bytes).digest('binary');
}
