/**
 * Keccak-256 for many short inputs: WebAssembly, several times faster than in JavaScript (`npm run bench -- days` measures it). Node's
 * own crypto has SHA-3 only, which pads otherwise.
 */
import { createKeccak } from 'hash-wasm';
import { type Keccak256 } from '#libs/domain';

export async function createKeccak256(): Promise<Keccak256> {
  const hasher = await createKeccak(256);
  return (bytes) => hasher.init().update(bytes).digest('binary');
}
