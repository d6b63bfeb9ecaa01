/** How a chain is asked whether a signature is good: the call, the probe of whether this endpoint serves such calls, and the answers. */
import { erc6492SignatureValidatorAbi, erc6492SignatureValidatorByteCode } from 'viem';
import { encodeDeployData, encodeFunctionData } from 'viem/utils';
import { type Address } from '#libs/domain';
import {
  ExecutionRevertedError,
  MalformedAnswerError,
  RpcRefusedError,
} from '../errors/rpc.errors.js';
import { type RpcCall, type RpcResult, valueOf } from '../rpc/rpc-call.js';
import { type RpcSession } from '../rpc/rpc-pool.js';
import { bytes, toQuantity } from '../shape/hex.js';

type Hex = `0x${string}`;

export interface SignatureQuestion {
  readonly wallet: Address;
  /** Of the text, by EIP-191. */
  readonly hash: Hex;
  readonly signature: Hex;
}

export interface VerificationForm {
  call(question: SignatureQuestion): RpcCall;
  readonly probe: RpcCall;
  /** What the probe says. @throws RpcError where it says nothing of the form */
  isServed(probed: RpcResult | undefined, session: RpcSession): boolean;
  /** The only answers there are; a call that reverts is a signature that is not valid. */
  readonly valid: Hex;
  readonly invalid: Hex;
  /** For the operator, where the form is not served. */
  readonly absence: string;
}

/** What is called is a stranger's contract; a signature that costs more to check is no signature. */
const GAS = toQuantity(10_000_000);
/** Returns a 32-byte word that nothing else returns: PUSH7 "lowmark", MSTORE at 0, RETURN 32 bytes. */
const PROBE_CODE = '0x666c6f776d61726b60005260206000f3';
const PROBE_ANSWER = `0x${'6c6f776d61726b'.padStart(64, '0')}`;
/** Invalid request, invalid params. */
const REFUSED_AS_INVALID = [-32600, -32602];

/** An `eth_call` at the newest block, its gas bounded. Without `to`, `data` is run as the code that creates a contract. */
export function boundedCall(call: { readonly to?: string; readonly data: Hex }): RpcCall {
  return { method: 'eth_call', params: [{ ...call, gas: GAS }, 'latest'] };
}

export function codeOf(contract: string): RpcCall {
  return { method: 'eth_getCode', params: [contract, 'latest'] };
}

/** In lower case. @throws the call's error; MalformedAnswerError */
export function returnedBytes(result: RpcResult | undefined, session: RpcSession): Hex {
  const data = bytes(valueOf(result));
  if (data === undefined) throw new MalformedAnswerError('an answer is not bytes', session);
  return data.toLowerCase() as Hex;
}

/** A deployed contract with `isValidSig(address,bytes32,bytes) returns (bool)`. */
export function verifierForm(verifier: Address): VerificationForm {
  return {
    call: ({ wallet, hash, signature }) => {
      const args = [wallet as Hex, hash, signature] as const;
      const functionName = 'isValidSig';
      const data = encodeFunctionData({ abi: erc6492SignatureValidatorAbi, functionName, args });
      return boundedCall({ to: verifier, data });
    },
    probe: codeOf(verifier),
    isServed: (probed, session) => returnedBytes(probed, session) !== '0x',
    valid: `0x${'1'.padStart(64, '0')}`,
    invalid: `0x${'0'.repeat(64)}`,
    absence: `there is no signature verifier at ${verifier}`,
  };
}

/** The same contract as the creation code of a call without `to`. Its constructor returns one byte. */
export const DEPLOYLESS: VerificationForm = {
  call: ({ wallet, hash, signature }) => {
    const data = encodeDeployData({
      abi: erc6492SignatureValidatorAbi,
      bytecode: erc6492SignatureValidatorByteCode,
      args: [wallet as Hex, hash, signature],
    });
    return boundedCall({ data });
  },
  probe: boundedCall({ data: PROBE_CODE }),
  isServed: isProbeAnswered,
  valid: '0x01',
  invalid: '0x00',
  absence: 'calls without "to" are refused',
};

/**
 * ZK Stack nodes refuse with code 3, as for a revert, "Failed to serialize transaction: toAddressIsNull" (zksync-era,
 * core/node/api_server/src/web3/tests/vm.rs). The probe cannot revert by itself, so here a revert is a refusal of the form.
 */
function isProbeAnswered(probed: RpcResult | undefined, session: RpcSession): boolean {
  if (probed?.ok !== false) return returnedBytes(probed, session) === PROBE_ANSWER;
  const { error } = probed;
  if (error instanceof ExecutionRevertedError) return false;
  if (error instanceof RpcRefusedError && REFUSED_AS_INVALID.includes(error.rpcCode ?? 0)) {
    return false;
  }
  throw error;
}
