import { erc6492SignatureValidatorAbi, erc6492SignatureValidatorByteCode } from 'viem';
import { parseSiweMessage } from 'viem/siwe';
import { encodeDeployData, encodeFunctionData } from 'viem/utils';
import { type Address, parseAddress } from '#libs/domain';
import {
  ExecutionRevertedError,
  MalformedAnswerError,
  RpcRefusedError,
} from '../rpc/rpc.errors.js';
import { type RpcCall, type RpcResult, valueOf } from '../rpc/rpc-call.js';
import { type RpcSession } from '../rpc/question.js';
import { bytes, type Hex, toQuantity } from '../rpc/hex.js';

/** The fields of a Sign-In with Ethereum message. Only the form of the message is checked. */
export interface SiweMessage {
  /** Host and port of the page that asked for the signature, as written. */
  readonly domain: string;
  readonly wallet: Address;
  readonly uri: string;
  readonly chainId: number;
  readonly nonce: string;
  readonly issuedAtMs: number;
  readonly expiresAtMs: number | undefined;
  readonly notBeforeMs: number | undefined;
}

const LONGEST_MESSAGE = 4096;
const TIME = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)`;

/**
 * The whole of EIP-4361, version 1, line by line. viem's parser finds its fields anywhere and skips what it does not
 * know, so a wallet could show its user text that was not checked.
 */
const FORM = new RegExp(
  String.raw`^(?:[A-Za-z][A-Za-z0-9+.-]*://)?[A-Za-z0-9.-]+(?::\d{1,5})? wants you to sign in with your Ethereum account:\n` +
    String.raw`0x[0-9a-fA-F]{40}\n\n(?:[^\r\n]+\n)?\n` +
    String.raw`URI: [^\s]+\nVersion: 1\nChain ID: \d{1,15}\nNonce: [A-Za-z0-9]{8,255}\nIssued At: ${TIME}` +
    String.raw`(?:\nExpiration Time: ${TIME})?(?:\nNot Before: ${TIME})?(?:\nRequest ID: [^\r\n]*)?(?:\nResources:(?:\n- [^\r\n]+)*)?$`,
);

/** @returns undefined where any line of the text does not have this form, or a time in it does not exist */
export function parseSiwe(text: string): SiweMessage | undefined {
  if (text.length > LONGEST_MESSAGE || !FORM.test(text)) return undefined;
  const { domain, address, uri, chainId, nonce, ...times } = parseSiweMessage(text);
  const wallet = parseAddress(address ?? '');
  const issuedAtMs = times.issuedAt?.getTime() ?? NaN;
  const [expiresAtMs, notBeforeMs] = [times.expirationTime?.getTime(), times.notBefore?.getTime()];
  const isDated = [issuedAtMs, expiresAtMs ?? 0, notBeforeMs ?? 0].every(Number.isFinite);
  if (!domain || !wallet || !uri || chainId === undefined || !nonce || !isDated) return undefined;
  return { domain, wallet, uri, chainId, nonce, issuedAtMs, expiresAtMs, notBeforeMs };
}

/** How a chain verifies a signature: the call, the probe whether this endpoint serves such calls, and the answers. */

export interface SignatureQuestion {
  readonly wallet: Address;
  /** The block in whose state the wallet is asked: a number, or `latest`. */
  readonly block: Hex | 'latest';
  /** Hash of the text by EIP-191. */
  readonly hash: Hex;
  readonly signature: Hex;
}

export interface VerificationMethod {
  call(question: SignatureQuestion): RpcCall;
  readonly probe: RpcCall;
  /** Whether the probe shows that the form is served. @throws RpcError where the probe says nothing about the form */
  isServed(probed: RpcResult | undefined, session: RpcSession): boolean;
  /** The only two answers. A call that reverts means an invalid signature. */
  readonly valid: Hex;
  readonly invalid: Hex;
  /** Text for the operator where the form is not served. */
  readonly absence: string;
}

/**
 * Gas limit of a call, which runs a contract that a stranger chooses. A signature that costs more to verify does not
 * count.
 */
const GAS = toQuantity(10_000_000);
/** Code that returns a 32-byte word that no other code returns: PUSH7 "lowmark", MSTORE at 0, RETURN 32 bytes. */
const PROBE_CODE = '0x666c6f776d61726b60005260206000f3';
const PROBE_ANSWER = `0x${'6c6f776d61726b'.padStart(64, '0')}`;
/** JSON-RPC codes of an invalid request and of invalid params. */
const REFUSED_AS_INVALID = [-32600, -32602];

/** An `eth_call` with bounded gas. Without `to`, `data` runs as the code that creates a contract. */
export function boundedCall(
  call: { readonly to?: string; readonly data: Hex },
  block: SignatureQuestion['block'] = 'latest',
): RpcCall {
  return { method: 'eth_call', params: [{ ...call, gas: GAS }, block] };
}

export function codeOf(contract: string, block: SignatureQuestion['block'] = 'latest'): RpcCall {
  return { method: 'eth_getCode', params: [contract, block] };
}

/** The returned bytes in lower case. @throws the call's error; MalformedAnswerError */
export function returnedBytes(result: RpcResult | undefined, session: RpcSession): Hex {
  const data = bytes(valueOf(result));
  if (data === undefined) throw new MalformedAnswerError('an answer is not bytes', session);
  return data.toLowerCase() as Hex;
}

/** A deployed contract with `isValidSig(address,bytes32,bytes) returns (bool)`. */
export function verifierForm(verifier: Address): VerificationMethod {
  return {
    call: ({ wallet, block, hash, signature }) => {
      const args = [wallet as Hex, hash, signature] as const;
      const functionName = 'isValidSig';
      const data = encodeFunctionData({ abi: erc6492SignatureValidatorAbi, functionName, args });
      return boundedCall({ to: verifier, data }, block);
    },
    probe: codeOf(verifier),
    isServed: (probed, session) => returnedBytes(probed, session) !== '0x',
    valid: `0x${'1'.padStart(64, '0')}`,
    invalid: `0x${'0'.repeat(64)}`,
    absence: `there is no signature verifier at ${verifier}`,
  };
}

/** The same contract as the creation code of a call without `to`. Its constructor returns one byte. */
export const DEPLOYLESS: VerificationMethod = {
  call: ({ wallet, block, hash, signature }) => {
    const data = encodeDeployData({
      abi: erc6492SignatureValidatorAbi,
      bytecode: erc6492SignatureValidatorByteCode,
      args: [wallet as Hex, hash, signature],
    });
    return boundedCall({ data }, block);
  },
  probe: boundedCall({ data: PROBE_CODE }),
  isServed: isProbeAnswered,
  valid: '0x01',
  invalid: '0x00',
  absence: 'calls without "to" are refused',
};

/**
 * ZK Stack nodes refuse the form with code 3, as for a revert: "Failed to serialize transaction: toAddressIsNull"
 * (zksync-era, core/node/api_server/src/web3/tests/vm.rs). The probe cannot revert by itself, so a revert of the
 * probe is a refusal of the form.
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
