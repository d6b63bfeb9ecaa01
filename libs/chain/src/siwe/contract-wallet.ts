/** EIP-1271: a contract that stands on the chain is asked itself. */
import { parseAbi } from 'viem';
import { encodeFunctionData, isErc6492Signature, parseErc6492Signature } from 'viem/utils';
import { ExecutionRevertedError } from '../errors/rpc.errors.js';
import { type RpcSession } from '../rpc/rpc-pool.js';
import { boundedCall, codeOf, returnedBytes, type SignatureQuestion } from './verification-form.js';

type Hex = `0x${string}`;

const ABI = parseAbi(['function isValidSignature(bytes32, bytes) view returns (bytes4)']);
/** `bytes4(keccak256("isValidSignature(bytes32,bytes)"))`, left-aligned in its word. */
const MAGIC_VALUE = `0x1626ba7e${'0'.repeat(56)}`;

/** 'undeployed': a signature of EIP-6492, which a wallet without code cannot be asked about. */
export type WalletVerdict = 'valid' | 'invalid' | 'undeployed';

/** @throws RpcError where the endpoint cannot answer */
export async function askContractWallet(
  session: RpcSession,
  { wallet, hash, signature }: SignatureQuestion,
): Promise<WalletVerdict> {
  const isWrapped = isErc6492Signature(signature);
  const inner = isWrapped ? unwrapped(signature) : signature;
  if (inner === undefined) return 'invalid';
  const args = [hash, inner] as const;
  const data = encodeFunctionData({ abi: ABI, functionName: 'isValidSignature', args });
  const { results } = await session.batch([codeOf(wallet), boundedCall({ to: wallet, data })]);
  const [code, answer] = results;
  if (returnedBytes(code, session) === '0x') return isWrapped ? 'undeployed' : 'invalid';
  if (answer?.ok === false && answer.error instanceof ExecutionRevertedError) return 'invalid';
  return returnedBytes(answer, session) === MAGIC_VALUE ? 'valid' : 'invalid';
}

function unwrapped(signature: Hex): Hex | undefined {
  try {
    return parseErc6492Signature(signature).signature;
  } catch {
    // The ending says that it is wrapped, and the rest is not the wrapper's form.
    return undefined;
  }
}
