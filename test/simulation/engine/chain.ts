/**
 * A chain with one redemption vault. Blocks are mined when the chain is read, so that quiet times cost nothing. The newest
 * blocks may be replaced; what is final stays.
 */
import { createHash } from 'node:crypto';
import { encodeFunctionResult, keccak256, toEventSelector, toHex, toRlp } from 'viem';
import { redemptionVaultAbi } from '../../../libs/chain/src/abi/redemption-vault.generated.js';
import { voucherDomain } from '../../../libs/chain/src/vault/voucher.js';
import { type Address } from '#libs/domain';

export const CHAIN_ID = 31_337;
export const VAULT = `0x${'7a'.repeat(20)}` as Address;
export const TOKEN = `0x${'70'.repeat(20)}` as Address;
/** `finalized` is this many blocks below the newest one. */
export const TO_FINALITY = 2;
const BLOCK_SECONDS = 12;
const LONG_GAP_SECONDS = 60;
/** Age of the chain when a world begins. */
const AGE_SECONDS = 600;

type Hex = `0x${string}`;
export type VaultStatus = 'none' | 'claimed' | 'cancelled';

export type VaultTransaction = { readonly hash: Hex; readonly vaultId: string } & (
  | {
      readonly kind: 'claim';
      readonly recipient: Address;
      readonly amount: bigint;
      readonly deadlineSeconds: number;
    }
  | { readonly kind: 'cancel'; readonly by: Address }
);

export interface VaultEntry {
  readonly kind: 'claimed' | 'cancelled';
  readonly vaultId: string;
  readonly transactionHash: Hex;
  readonly recipient: Address;
  readonly amount: bigint;
  readonly logIndex: number;
}

export interface Block {
  readonly number: number;
  readonly seconds: number;
  readonly hash: Hex;
  readonly parentHash: Hex;
  readonly header: Readonly<Record<string, unknown>>;
  readonly entries: readonly VaultEntry[];
  /** All entries up to this block, oldest first. */
  readonly history: readonly VaultEntry[];
  /** Tokens of the vault at the end of the block. */
  readonly balance: bigint;
  readonly transactions: readonly VaultTransaction[];
}

export interface ChainOptions {
  /** The clock of those who make blocks. */
  readonly nowSeconds: () => number;
  /** Tokens of the vault, in the smallest unit. */
  readonly funds: bigint;
  /** Whether the block hashes are those of Ethereum's headers. */
  readonly hasProvableHeaders: boolean;
}

export const CLAIMED = toEventSelector('Claimed(bytes32,address,uint256,address)');
export const CANCELLED = toEventSelector('Cancelled(bytes32,address)');
const ZERO = `0x${'0'.repeat(64)}` as const;

export class SimulatedChain {
  readonly blocks: Block[] = [];
  reorganisations = 0;
  private readonly byHashes = new Map<string, Block>();
  private waiting: VaultTransaction[] = [];
  private forks = 0;

  constructor(private readonly options: ChainOptions) {
    const startSeconds = options.nowSeconds() - AGE_SECONDS;
    for (let block = 0; block <= TO_FINALITY + 1; block++) {
      this.append(startSeconds + block * BLOCK_SECONDS, []);
    }
  }

  get latest(): Block {
    return this.at(this.blocks.length - 1);
  }

  get nowSeconds(): number {
    return this.options.nowSeconds();
  }

  get final(): Block {
    return this.at(Math.max(0, this.blocks.length - 1 - TO_FINALITY));
  }

  at(number: number): Block {
    const block = this.blocks[number];
    if (block === undefined) throw new RangeError(`there is no block ${number}`);
    return block;
  }

  byHash(hash: string): Block | undefined {
    const block = this.byHashes.get(hash);
    return block !== undefined && this.blocks[block.number] === block ? block : undefined;
  }

  submit(transaction: VaultTransaction): void {
    const isKnown = this.waiting.some(({ hash }) => hash === transaction.hash);
    if (!isKnown) this.waiting.push(transaction);
  }

  /** Mines the blocks that are due. Transactions that wait go into the newest one. */
  advance(): void {
    const nowSeconds = this.options.nowSeconds();
    const passed = nowSeconds - this.latest.seconds;
    if (passed < BLOCK_SECONDS) return;
    if (passed > LONG_GAP_SECONDS) {
      for (let back = TO_FINALITY; back >= 1; back--) {
        this.append(nowSeconds - back * BLOCK_SECONDS, []);
      }
    }
    this.append(nowSeconds, this.waiting.splice(0));
  }

  /** Replaces the newest blocks. @param keeps whether a transaction of theirs waits again; the others are lost */
  reorganise(depth: number, keeps: () => boolean): void {
    const dropped = this.blocks.splice(-Math.min(depth, TO_FINALITY));
    this.reorganisations++;
    this.forks++;
    for (const { transactions } of dropped) {
      for (const one of transactions) if (keeps()) this.submit(one);
    }
    for (const { seconds } of dropped) this.append(seconds, []);
  }

  /** All that the vault did up to a block, newest block by default. */
  entries(upTo = this.latest.number): readonly VaultEntry[] {
    return this.at(Math.min(upTo, this.latest.number)).history;
  }

  statusOf(vaultId: string, upTo?: number): VaultStatus {
    const entry = this.entries(upTo).find((one) => one.vaultId === vaultId);
    return entry?.kind ?? 'none';
  }

  balance(upTo = this.latest.number): bigint {
    return this.at(Math.min(upTo, this.latest.number)).balance;
  }

  private append(seconds: number, transactions: readonly VaultTransaction[]): void {
    const number = this.blocks.length;
    const parent = this.blocks.at(-1);
    const parentHash = parent?.hash ?? ZERO;
    let balance = parent?.balance ?? this.options.funds;
    const entries: VaultEntry[] = [];
    for (const one of transactions) {
      if (parent?.history.some(({ vaultId }) => vaultId === one.vaultId)) continue;
      if (entries.some(({ vaultId }) => vaultId === one.vaultId)) continue;
      const { vaultId, hash: transactionHash } = one;
      const place = { vaultId, transactionHash, logIndex: entries.length };
      if (one.kind === 'cancel') {
        entries.push({ kind: 'cancelled', recipient: one.by, amount: 0n, ...place });
      } else if (seconds <= one.deadlineSeconds && one.amount <= balance) {
        const { recipient, amount } = one;
        entries.push({ kind: 'claimed', recipient, amount, ...place });
        balance -= amount;
      }
    }
    const header = this.header({ number, seconds, parentHash });
    const before = parent?.history ?? [];
    const block: Block = {
      ...{ number, seconds, parentHash, header, entries, balance, transactions },
      history: entries.length === 0 ? before : [...before, ...entries],
      hash: header['hash'] as Hex,
    };
    this.blocks.push(block);
    this.byHashes.set(block.hash, block);
  }

  private header(of: { number: number; seconds: number; parentHash: Hex }) {
    const plain = {
      number: toHex(of.number),
      parentHash: of.parentHash,
      timestamp: toHex(of.seconds),
      transactions: [],
    };
    if (this.options.hasProvableHeaders) return provable(plain, this.forks);
    const text = `${of.number} ${of.seconds} ${of.parentHash} ${this.forks}`;
    return { ...plain, hash: `0x${createHash('sha256').update(text).digest('hex')}` };
  }
}

const BLOOM = `0x${'0'.repeat(512)}` as const;
const ADDRESS = `0x${'0'.repeat(40)}` as const;

/** A header whose hash is Keccak-256 of its fields. */
function provable(plain: { number: Hex; parentHash: Hex; timestamp: Hex }, fork: number) {
  const data = {
    sha3Uncles: ZERO,
    miner: ADDRESS,
    stateRoot: ZERO,
    transactionsRoot: ZERO,
    receiptsRoot: ZERO,
    logsBloom: BLOOM,
    difficulty: '0x0',
    gasLimit: '0x1c9c380',
    gasUsed: '0x0',
    extraData: toHex(fork, { size: 2 }),
    mixHash: ZERO,
    nonce: '0x0000000000000000',
  } as const;
  const bytes = (quantity: Hex): Hex => {
    const digits = quantity.slice(2).replace(/^0+/, '');
    return `0x${digits.length % 2 === 0 ? digits : `0${digits}`}`;
  };
  const { parentHash, number, timestamp } = plain;
  const hash = keccak256(
    toRlp([
      ...[parentHash, data.sha3Uncles, data.miner, data.stateRoot, data.transactionsRoot],
      ...[data.receiptsRoot, data.logsBloom, bytes(data.difficulty), bytes(number)],
      ...[bytes(data.gasLimit), bytes(data.gasUsed), bytes(timestamp)],
      ...[data.extraData, data.mixHash, data.nonce],
    ]),
  );
  return { ...plain, ...data, hash };
}

/** The answer of the vault to `eip712Domain()`. */
export const DOMAIN_ANSWER = (() => {
  const { name, version, chainId, verifyingContract } = voucherDomain({
    chainId: CHAIN_ID,
    vault: VAULT,
  });
  return encodeFunctionResult({
    abi: redemptionVaultAbi,
    functionName: 'eip712Domain',
    result: ['0x0f', name, version, BigInt(chainId), verifyingContract, ZERO, []],
  });
})();
