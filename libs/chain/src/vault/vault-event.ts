/** The events of a vault about redemptions, parsed from logs that are not verified yet. */
import { toEventSelector } from 'viem/utils';
import {
  type Address,
  type BlockHash,
  type BlockRef,
  type CancelEvent,
  type ClaimEvent,
  parseUuidV7,
  PermanentError,
  type UuidV7,
} from '#libs/domain';
import { MalformedAnswerError } from '../rpc/rpc.errors.js';
import { type AtEndpoint } from '../rpc/rpc-call.js';
import { address, bytes, hash, type Hex, isRecord, quantity } from '../rpc/hex.js';

interface VaultEventFields {
  /** Not necessarily the id of one of our redemptions; see `redemptionIdOf`. */
  readonly vaultId: VaultId;
  /** `0x` and 64 lower-case hex digits. */
  readonly transactionHash: string;
  readonly block: BlockRef;
}

export type VaultEvent =
  | (VaultEventFields & {
      readonly kind: 'claimed';
      readonly recipient: Address;
      /** In the token's smallest unit. */
      readonly amount: bigint;
      readonly signer: Address;
    })
  | (VaultEventFields & { readonly kind: 'cancelled'; readonly canceller: Address });

/** The place and the content of a log, as the node states them. */
export interface VaultLog {
  readonly blockNumber: bigint;
  readonly blockHash: BlockHash;
  readonly transactionHash: string;
  readonly logIndex: number;
  /** Lower case. */
  readonly topics: readonly string[];
  readonly data: string;
}

export const CLAIMED = toEventSelector('Claimed(bytes32,address,uint256,address)');
export const CANCELLED = toEventSelector('Cancelled(bytes32,address)');

/** @throws MalformedAnswerError where the value is no log of the vault, or is marked as removed */
export function parseVaultLog(value: unknown, vault: Address, at: AtEndpoint): VaultLog {
  const malformed = (what: string): never => {
    throw new MalformedAnswerError(`a log ${what}`, at);
  };
  if (!isRecord(value)) return malformed('is not an object');
  if (value['removed'] === true) return malformed('is marked as removed');
  if (address(value['address']) !== vault) return malformed('is of another contract');
  const blockNumber = quantity(value['blockNumber']);
  const blockHash = hash(value['blockHash']);
  const transactionHash = hash(value['transactionHash']);
  const logIndex = quantity(value['logIndex']);
  const data = bytes(value['data'])?.toLowerCase();
  const topics = Array.isArray(value['topics']) ? value['topics'].map(hash) : [];
  if (
    blockNumber === undefined ||
    blockHash === undefined ||
    transactionHash === undefined ||
    logIndex === undefined ||
    data === undefined ||
    !topics.every((topic) => topic !== undefined)
  ) {
    return malformed('lacks a valid field');
  }
  return { blockNumber: BigInt(blockNumber), blockHash, transactionHash, logIndex, topics, data };
}

/** @throws MalformedAnswerError where the log is neither a claim nor a cancellation */
export function vaultEventOf(log: VaultLog, block: BlockRef, at: AtEndpoint): VaultEvent {
  const [topic0, vaultId, second] = log.topics;
  const words = (log.data.length - 2) / 64;
  const fields = { vaultId: vaultId as VaultId, transactionHash: log.transactionHash, block };
  if (topic0 === CLAIMED && log.topics.length === 3 && words === 2) {
    const recipient = addressOf(second ?? '');
    const signer = addressOf(`0x${log.data.slice(66)}`);
    if (recipient && signer) {
      const amount = BigInt(log.data.slice(0, 66));
      return { kind: 'claimed', ...fields, recipient, amount, signer };
    }
  }
  if (topic0 === CANCELLED && log.topics.length === 2 && words === 1) {
    const canceller = addressOf(log.data);
    if (canceller) return { kind: 'cancelled', ...fields, canceller };
  }
  throw new MalformedAnswerError('a log is neither a claim nor a cancellation', at);
}

function addressOf(word: string): Address | undefined {
  return word.startsWith(`0x${'0'.repeat(24)}`) ? address(`0x${word.slice(26)}`) : undefined;
}

/** The events of two nodes, each once; events that only the second node has come last. */
export function mergeEvents(
  events: readonly VaultEvent[],
  others: readonly VaultEvent[],
): VaultEvent[] {
  const key = ({ kind, vaultId, block }: VaultEvent) => `${kind} ${vaultId} ${block.hash}`;
  const known = new Set(events.map(key));
  return [...events, ...others.filter((event) => !known.has(key(event)))];
}

export function splitEvents(events: readonly VaultEvent[]): {
  readonly claims: readonly ClaimEvent[];
  readonly cancellations: readonly CancelEvent[];
} {
  const claims: ClaimEvent[] = [];
  const cancellations: CancelEvent[] = [];
  for (const event of events) {
    const { transactionHash, block } = event;
    if (event.kind === 'cancelled') cancellations.push({ transactionHash, block });
    else {
      const { recipient, amount } = event;
      claims.push({ transactionHash, block, recipient, amount });
    }
  }
  return { claims, cancellations };
}

/** The id of a redemption in the vault: `0x`, the 32 lower-case hex digits of its UUIDv7, and 32 zeros. */
export type VaultId = Hex & { readonly __brand: 'VaultId' };

const PARTS = /^0x([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})0{32}$/;

/**
 * Converts a UUID to its 16 bytes, left-aligned as by Solidity's `bytes32(bytes16)`. Letters of either case give the
 * same id.
 * @throws PermanentError where the text is not a UUID of version 7 (RFC 9562)
 */
export function vaultIdOf(redemptionId: string): VaultId {
  const uuid = parseUuidV7(redemptionId);
  if (!uuid) {
    throw new PermanentError('REDEMPTION_ID_INVALID', 'A redemption id must be a UUIDv7.');
  }
  return `0x${uuid.replaceAll('-', '').padEnd(64, '0')}` as VaultId;
}

/** The UUID in lower case; undefined where `vaultIdOf` did not make the bytes, so the claim is none of ours. */
export function redemptionIdOf(vaultId: string): UuidV7 | undefined {
  const parts = PARTS.exec(vaultId);
  return parts ? parseUuidV7(parts.slice(1).join('-')) : undefined;
}
