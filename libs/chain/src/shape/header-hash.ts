/**
 * The hash of a block recomputed from the fields that a node answered with: keccak256 of their RLP, in the order of Ethereum's header
 * (Yellow Paper 4.4.3). The fields after the nonce came with EIP-1559, 4895, 4844, 4788, 7685, 7928 and 7843, each at the end, so that a
 * header has some of the first of them and none of the rest. OP Stack and Arbitrum headers have this form; those of ZK Stack have not.
 */
import { keccak256, toRlp } from 'viem/utils';
import { bytes, hash, isRecord } from './hex.js';

type Hex = `0x${string}`;
type Field = readonly [name: string, kind: 'data' | 'quantity'];

const ALWAYS: readonly Field[] = [
  ['parentHash', 'data'],
  ['sha3Uncles', 'data'],
  ['miner', 'data'],
  ['stateRoot', 'data'],
  ['transactionsRoot', 'data'],
  ['receiptsRoot', 'data'],
  ['logsBloom', 'data'],
  ['difficulty', 'quantity'],
  ['number', 'quantity'],
  ['gasLimit', 'quantity'],
  ['gasUsed', 'quantity'],
  ['timestamp', 'quantity'],
  ['extraData', 'data'],
  ['mixHash', 'data'],
  ['nonce', 'data'],
];
const LATER: readonly Field[] = [
  ['baseFeePerGas', 'quantity'],
  ['withdrawalsRoot', 'data'],
  ['blobGasUsed', 'quantity'],
  ['excessBlobGas', 'quantity'],
  ['parentBeaconBlockRoot', 'data'],
  ['requestsHash', 'data'],
  ['blockAccessListHash', 'data'],
  ['slotNumber', 'quantity'],
];
const QUANTITY = /^0x[0-9a-fA-F]{1,64}$/;
const EMPTY: Hex = '0x';

/**
 * Whether the fields of a block, as eth_getBlockByNumber answers it, hash to the block's own `hash`. True proves number and timestamp of
 * that hash; false says that a field was altered or left out, or that the chain's headers have another form.
 */
export function hashesToItself(block: unknown): boolean {
  if (!isRecord(block)) return false;
  const own = hash(block['hash']);
  const count = LATER.findLastIndex(([name]) => isThere(block[name])) + 1;
  const fields = [...ALWAYS, ...LATER.slice(0, count)].map((field) => encoded(block, field));
  if (own === undefined || !fields.every((field) => field !== undefined)) return false;
  return keccak256(toRlp(fields)) === own;
}

/** @returns undefined where the field is not what it should be */
function encoded(block: Record<string, unknown>, [name, kind]: Field): Hex | undefined {
  const value = block[name];
  // A field that a later one follows is encoded as empty where the chain does without it.
  if (!isThere(value)) return LATER.some(([later]) => later === name) ? EMPTY : undefined;
  if (kind === 'data') return bytes(value);
  if (typeof value !== 'string' || !QUANTITY.test(value)) return undefined;
  const digits = value.slice(2).replace(/^0+/, '');
  return `0x${digits.length % 2 === 0 ? digits : `0${digits}`}`;
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}
