import { type BlockHeader } from '#libs/domain';
import { MalformedAnswerError } from '../errors/rpc.errors.js';
import { hash, isRecord, quantity } from './hex.js';

/** A block's header with what the checks of the logs need. */
export interface FullHeader extends BlockHeader {
  /** `0x` and 512 lower-case hex digits. */
  readonly logsBloom: string;
  readonly transactions: number;
  /** Its fields hash to its own hash, which proves number and time of that hash. Undefined where it was not looked at. */
  readonly isProven?: boolean;
}

export const EMPTY_BLOOM = `0x${'0'.repeat(512)}`;
const BLOOM = /^0x[0-9a-f]{512}$/;

/**
 * The answer to eth_getBlockByNumber or eth_getBlockByHash without transaction bodies.
 * @returns undefined for null: the node does not have the block
 * @throws MalformedAnswerError
 */
export function parseHeader(value: unknown, endpoint: string): FullHeader | undefined {
  if (value === null) return undefined;
  if (!isRecord(value)) throw new MalformedAnswerError('a block is not an object', { endpoint });
  const number = quantity(value['number']);
  const blockHash = hash(value['hash']);
  const parentHash = hash(value['parentHash']);
  const timestampSeconds = quantity(value['timestamp']);
  const transactions = value['transactions'];
  if (
    number === undefined ||
    blockHash === undefined ||
    parentHash === undefined ||
    timestampSeconds === undefined
  ) {
    throw new MalformedAnswerError('a block lacks a valid number, hash, parentHash or timestamp', {
      endpoint,
    });
  }
  return {
    number: BigInt(number),
    hash: blockHash,
    parentHash,
    timestampSeconds,
    logsBloom: bloom(value['logsBloom'], endpoint),
    transactions: Array.isArray(transactions) ? transactions.length : 0,
  };
}

/** Chains without blooms leave the field out, null, empty or all zero; for us these are the same. */
function bloom(value: unknown, endpoint: string): string {
  if (value === undefined || value === null || value === '0x') return EMPTY_BLOOM;
  const text = typeof value === 'string' ? value.toLowerCase() : '';
  if (!BLOOM.test(text)) {
    throw new MalformedAnswerError('a block has a logsBloom that is not 256 bytes', { endpoint });
  }
  return text;
}

/** The header of exactly this block. @throws MalformedAnswerError where the node answered with another one */
export function parseHeaderOf(
  value: unknown,
  number: bigint,
  endpoint: string,
): FullHeader | undefined {
  const header = parseHeader(value, endpoint);
  if (header && header.number !== number) {
    throw new MalformedAnswerError(
      `asked for block ${number.toString()}, got ${header.number.toString()}`,
      { endpoint },
    );
  }
  return header;
}
