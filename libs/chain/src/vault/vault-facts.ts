/** The facts about the vault that a service reads before it starts, and shows on its health page. */
import { decodeFunctionResult, encodeFunctionData, keccak256, stringToBytes } from 'viem/utils';
import { type Address, parseAddress } from '#libs/domain';
import { lowmarkTokenAbi } from '../abi/lowmark-token.generated.js';
import {
  redemptionVaultAbi,
  redemptionVaultBytecode,
  redemptionVaultRuntime,
} from '../abi/redemption-vault.generated.js';
import { unlessAllFail } from '../rpc/rpc.errors.js';
import { bytesUnlessReverted, ethCall, wordIn } from '../calls/pinned-calls.js';
import { questionTo, Quorum } from '../quorum/quorum.js';
import { countProviders } from '../rpc/endpoint-urls.js';
import { valueOf } from '../rpc/rpc-call.js';
import { type RpcPool } from '../rpc/rpc-pool.js';
import { type VaultPlace, voucherDomain } from './voucher.js';
import { type Hex } from '../rpc/hex.js';

export interface VaultFacts {
  readonly hasCode: boolean;
  /**
   * Whether the vault's EIP-712 domain is the one that our vouchers name, which proves the kind of contract and the
   * chain.
   */
  readonly hasOurVoucherDomain: boolean;
  /** The token that the vault pays; undefined where the address is no vault. */
  readonly token: Address | undefined;
  /** The holder of `DEFAULT_ADMIN_ROLE`; undefined where the address is no vault. */
  readonly admin: Address | undefined;
  readonly isSigner: boolean;
  readonly isCanceller: boolean;
  readonly isPauser: boolean;
  readonly isPaused: boolean;
  /** Seconds by which a voucher's deadline may be after its claim; undefined where the address is no vault. */
  readonly maxTtlSeconds: bigint | undefined;
  /** Balance in the token's smallest unit, as `windowCap` and `remainingInWindow`. */
  readonly balance: bigint;
  readonly windowCap: bigint;
  readonly remainingInWindow: bigint;
  readonly windowSeconds: bigint;
}

export interface VaultQuestion {
  readonly place: VaultPlace;
  /** TOKEN_CONTRACT, of which the balance is read. */
  readonly token: Address;
  readonly signer: Address;
  /** The account that cancels; by default the signer. */
  readonly canceller?: Address;
  /** The account that may pause; by default the signer, which does not hold that role. */
  readonly pauser?: Address;
  /** VOUCHER_TTL_SECONDS, where known. */
  readonly voucherTtlSeconds?: number | undefined;
}

const SIGNER_ROLE = keccak256(stringToBytes('SIGNER_ROLE'));
const CANCELLER_ROLE = keccak256(stringToBytes('CANCELLER_ROLE'));
const PAUSER_ROLE = keccak256(stringToBytes('PAUSER_ROLE'));

/**
 * Reads the facts at the newest block. A fact that the contract does not answer is false, 0 or undefined, so an
 * address without a vault is no error.
 * @throws AllEndpointsFailedError
 */
export async function readVaultFacts(pool: RpcPool, question: VaultQuestion): Promise<VaultFacts> {
  const { place, token, signer, canceller = signer, pauser = signer } = question;
  const calls = [
    encode('token'),
    encode('paused'),
    encodeHasRole(SIGNER_ROLE, signer),
    encodeHasRole(CANCELLER_ROLE, canceller),
    encodeHasRole(PAUSER_ROLE, pauser),
    encode('maxTtlSeconds'),
    encode('defaultAdmin'),
    encode('windowCap'),
    encode('remainingInWindow'),
    encode('windowSeconds'),
    encode('eip712Domain'),
  ];
  const balance = encodeFunctionData({
    abi: lowmarkTokenAbi,
    functionName: 'balanceOf',
    args: [place.vault as Hex],
  });
  const [code, itsBalance, ...answers] = await pool.run(async (session) => {
    const { results } = await session.batch([
      { method: 'eth_getCode', params: [place.vault, 'latest'] },
      ethCall({ to: token, data: balance }, 'latest'),
      ...calls.map((data) => ethCall({ to: place.vault, data }, 'latest')),
    ]);
    return results.map((result) => bytesUnlessReverted(result, session));
  });
  const [itsToken, paused, signs, cancels, pauses, maxTtl, admin, ...more] = answers;
  const [cap, remaining, seconds, domain] = more;
  return {
    hasCode: code !== undefined && code !== '0x',
    hasOurVoucherDomain: isOurDomain(domain, place),
    token: wordIn(itsToken) === undefined ? undefined : addressOf(itsToken),
    admin: wordIn(admin) === undefined ? undefined : addressOf(admin),
    isSigner: wordIn(signs) === 1n,
    isCanceller: wordIn(cancels) === 1n,
    isPauser: wordIn(pauses) === 1n,
    isPaused: wordIn(paused) === 1n,
    maxTtlSeconds: wordIn(maxTtl),
    balance: wordIn(itsBalance) ?? 0n,
    windowCap: wordIn(cap) ?? 0n,
    remainingInWindow: wordIn(remaining) ?? 0n,
    windowSeconds: wordIn(seconds) ?? 0n,
  };
}

/** Faults of the setup, as texts for an operator. A pause and an empty vault are no faults, because they pass. */
export function vaultFaults(facts: VaultFacts, question: VaultQuestion): string[] {
  const { place, token, signer } = question;
  const { vault, chainId } = place;
  if (!facts.hasCode) {
    return [`VAULT_CONTRACT: there is no contract at ${vault} on chain ${chainId}.`];
  }
  if (!facts.hasOurVoucherDomain) {
    return [`VAULT_CONTRACT: ${vault} is not a redemption vault of chain ${chainId}.`];
  }
  return [
    ...(facts.token === token
      ? []
      : [`VAULT_CONTRACT: ${vault} pays token ${facts.token ?? 'unknown'}, not ${token}.`]),
    ...(facts.isSigner
      ? []
      : [`VOUCHER_SIGNER_KEY: its address ${signer} does not hold SIGNER_ROLE of ${vault}.`]),
    ...ttlFaults(facts, question),
  ];
}

/**
 * The vault refuses a voucher whose deadline is further away than maxTtlSeconds. With a longer VOUCHER_TTL_SECONDS no
 * new voucher could be claimed at first.
 */
export function ttlFaults(
  { maxTtlSeconds }: { readonly maxTtlSeconds: bigint | undefined },
  { place, voucherTtlSeconds = 0 }: VaultQuestion,
): string[] {
  if (maxTtlSeconds === undefined || BigInt(voucherTtlSeconds) <= maxTtlSeconds) return [];
  return [
    `VOUCHER_TTL_SECONDS: ${voucherTtlSeconds} is longer than ${maxTtlSeconds.toString()}, the maxTtlSeconds of ${place.vault}. Lower it.`,
  ];
}

type Plain =
  | 'token'
  | 'paused'
  | 'maxTtlSeconds'
  | 'defaultAdmin'
  | 'windowCap'
  | 'remainingInWindow'
  | 'windowSeconds'
  | 'eip712Domain';

function encode(functionName: Plain): Hex {
  return encodeFunctionData({ abi: redemptionVaultAbi, functionName });
}

function encodeHasRole(role: Hex, holder: Address): Hex {
  return encodeFunctionData({
    abi: redemptionVaultAbi,
    functionName: 'hasRole',
    args: [role, holder as Hex],
  });
}

function addressOf(data: Hex | undefined): Address | undefined {
  return parseAddress(`0x${data?.slice(26) ?? ''}`);
}

function isOurDomain(data: Hex | undefined, place: VaultPlace): boolean {
  if (data === undefined || data === '0x') return false;
  const expected = voucherDomain(place);
  try {
    const [, name, version, chainId, contract] = decodeFunctionResult({
      abi: redemptionVaultAbi,
      functionName: 'eip712Domain',
      data,
    });
    return (
      name === expected.name &&
      version === expected.version &&
      chainId === BigInt(expected.chainId) &&
      contract.toLowerCase() === place.vault
    );
  } catch {
    // Another contract, whose answer has another form.
    return false;
  }
}

const WORD_DIGITS = 64;

/**
 * Whether the code is that of the vault, as compiled. The words that its constructor fills in (immutables, among them
 * the vault's own address) may have any value.
 * @param code `0x` and hex digits
 */
export function isVaultCode(code: string): boolean {
  const digits = redemptionVaultRuntime.bytes * 2;
  const compiled = redemptionVaultBytecode.slice(-digits);
  return withoutImmutables(code.toLowerCase().slice(2)) === withoutImmutables(compiled);
}

function withoutImmutables(code: string): string {
  let at = 0;
  const kept = redemptionVaultRuntime.immutables.map((offset) => {
    const part = code.slice(at, offset * 2);
    at = offset * 2 + WORD_DIGITS;
    return part;
  });
  return [...kept, code.slice(at)].join(' ');
}

/**
 * Whether the vault is paused at the newest block, by all providers that answer, and by two if there are two.
 * @throws ExecutionRevertedError where the address is no vault
 */
export async function isPausedByAll(pool: RpcPool, vault: Address): Promise<boolean> {
  const data = encodeFunctionData({ abi: redemptionVaultAbi, functionName: 'paused' });
  const { endpoints } = pool;
  const ask = questionTo(pool, async (session) => {
    const { results } = await session.batch([ethCall({ to: vault, data }, 'latest')]);
    const word = valueOf(results[0]);
    return typeof word === 'string' && word.length === 66 && BigInt(word) === 1n;
  });
  const everyProvider = new Quorum(endpoints).ask(ask, () => false, { mayFail: true });
  const said = (await unlessAllFail(everyProvider)) ?? [];
  return said.length >= Math.min(2, countProviders(endpoints)) && said.every(({ value }) => value);
}
