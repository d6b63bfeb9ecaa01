/** An RPC endpoint of the chain. It may be behind the chain, and it may lie about what is final and what was paid. */
import { createHash } from 'node:crypto';
import { parseTransaction, toFunctionSelector, toHex } from 'viem';
import { type Address } from '#libs/domain';
import {
  type Block,
  CANCELLED,
  CHAIN_ID,
  CLAIMED,
  DOMAIN_ANSWER,
  type SimulatedChain,
  TOKEN,
  VAULT,
  type VaultEntry,
} from './chain.js';

type Hex = `0x${string}`;
interface RpcCall {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

export const LIES = [
  /** NONE becomes CANCELLED, CLAIMED becomes NONE. */
  'false status',
  /** A cancellation with its event and receipt. */
  'made-up cancellation',
  'no claims',
  'a week later',
  'another final block',
  'fewer final blocks',
] as const;
export type Lie = (typeof LIES)[number];

const WEEK_SECONDS = 7 * 86_400;
const STATUSES = ['none', 'claimed', 'cancelled'];
const SELECTOR = {
  token: toFunctionSelector('token()'),
  paused: toFunctionSelector('paused()'),
  hasRole: toFunctionSelector('hasRole(bytes32,address)'),
  maxTtlSeconds: toFunctionSelector('maxTtlSeconds()'),
  defaultAdmin: toFunctionSelector('defaultAdmin()'),
  windowCap: toFunctionSelector('windowCap()'),
  remainingInWindow: toFunctionSelector('remainingInWindow()'),
  windowSeconds: toFunctionSelector('windowSeconds()'),
  domain: toFunctionSelector('eip712Domain()'),
  status: toFunctionSelector('status(bytes32)'),
  balanceOf: toFunctionSelector('balanceOf(address)'),
};

class NodeFault extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

export class SimulatedNode {
  lie: Lie | undefined;
  /** Blocks by which the node is behind the chain. */
  behind = 0;

  constructor(
    readonly name: string,
    private readonly chain: SimulatedChain,
  ) {}

  get url(): string {
    return `https://${this.name}.example`;
  }

  /** @param body of a call or a batch; @returns that of its answer */
  answer(body: string): string {
    this.chain.advance();
    const asked = JSON.parse(body) as RpcCall | RpcCall[];
    return JSON.stringify(
      Array.isArray(asked) ? asked.map((call) => this.answerOf(call)) : this.answerOf(asked),
    );
  }

  private answerOf({ id, method, params }: RpcCall): object {
    try {
      return { jsonrpc: '2.0', id, result: this.result(method, params) };
    } catch (error) {
      if (!(error instanceof NodeFault)) throw error;
      return { jsonrpc: '2.0', id, error: { code: error.code, message: error.message } };
    }
  }

  private get head(): Block {
    return this.chain.at(Math.max(0, this.chain.blocks.length - 1 - this.behind));
  }

  private result(method: string, params: readonly unknown[]): unknown {
    switch (method) {
      case 'eth_chainId':
        return toHex(CHAIN_ID);
      case 'eth_getBlockByNumber':
        return this.block(params[0] as string);
      case 'eth_call':
        return this.call(params[0] as { to: string; data: Hex }, this.upTo(params[1]));
      case 'eth_getCode':
        return '0x60';
      case 'eth_getLogs':
        return this.logs(params[0] as LogFilter);
      case 'eth_getTransactionReceipt':
        return this.receipt(params[0] as Hex);
      case 'eth_getTransactionCount':
        return '0x1';
      case 'eth_gasPrice':
        return '0x3b9aca00';
      case 'eth_estimateGas':
        return this.gas(params[0] as { data: Hex });
      case 'eth_sendRawTransaction':
        return this.send(params[0] as Hex);
      default:
        throw new NodeFault(-32_601, `the method ${method} does not exist`);
    }
  }

  private block(which: string): unknown {
    if (which === 'latest') return this.told(this.head);
    if (which !== 'finalized' && which !== 'safe') {
      const number = Number(which);
      return number > this.head.number ? null : this.told(this.chain.at(number));
    }
    const back = this.lie === 'fewer final blocks' ? 3 : 0;
    const final = this.chain.at(
      Math.max(0, Math.min(this.chain.final.number, this.head.number) - back),
    );
    if (this.lie === 'another final block')
      return { ...final.header, hash: `0x${'ab'.repeat(32)}` };
    return this.told(final);
  }

  /** A block as this node tells it. */
  private told({ header, seconds }: Block): unknown {
    return this.lie === 'a week later'
      ? { ...header, timestamp: toHex(seconds + WEEK_SECONDS) }
      : header;
  }

  /** The number of the block at which a call is made. */
  private upTo(block: unknown): number {
    if (block === 'latest') return this.head.number;
    if (typeof block === 'string') return Number(block);
    const { blockHash } = block as { blockHash: string };
    const found = this.chain.byHash(blockHash);
    if (found === undefined || found.number > this.head.number) {
      throw new NodeFault(-32_000, 'header not found');
    }
    return found.number;
  }

  private call({ to, data }: { to: string; data: Hex }, upTo: number): Hex {
    const selector = data.slice(0, 10);
    const balance = (): Hex => word(this.chain.balance(upTo));
    if (to === TOKEN) return balance();
    switch (selector) {
      case SELECTOR.token:
        return word(BigInt(TOKEN));
      case SELECTOR.paused:
        return word(0n);
      case SELECTOR.hasRole:
        return word(1n);
      case SELECTOR.maxTtlSeconds:
        return word(86_400n);
      case SELECTOR.defaultAdmin:
        return word(1n);
      case SELECTOR.windowCap:
      case SELECTOR.remainingInWindow:
        return word(10n ** 30n);
      case SELECTOR.windowSeconds:
        return word(86_400n);
      case SELECTOR.domain:
        return DOMAIN_ANSWER;
      case SELECTOR.status:
        return word(BigInt(STATUSES.indexOf(this.statusOf(`0x${data.slice(10)}`, upTo))));
      default:
        throw new NodeFault(3, 'execution reverted');
    }
  }

  private statusOf(vaultId: string, upTo: number): string {
    const status = this.chain.statusOf(vaultId, upTo);
    if (this.lie === 'false status') return status === 'none' ? 'cancelled' : 'none';
    if (this.lie === 'made-up cancellation' && status === 'none') return 'cancelled';
    return this.lie === 'no claims' ? 'none' : status;
  }

  private logs({ fromBlock, toBlock, topics }: LogFilter): unknown[] {
    const [from, to] = [Number(fromBlock), Number(toBlock)];
    const ids = topics[1];
    if (to > this.head.number) return [];
    if (this.lie === 'no claims') return [];
    const logs: unknown[] = [];
    for (const block of this.chain.blocks.slice(from, to + 1)) {
      for (const entry of block.entries) {
        if (ids === undefined || ids.includes(entry.vaultId)) logs.push(logOf(entry, block));
      }
    }
    if (this.lie === 'made-up cancellation' && ids !== undefined) {
      const known = new Set(this.chain.entries(to).map(({ vaultId }) => vaultId));
      const block = this.chain.at(to);
      const start = block.entries.length;
      for (const [index, id] of ids.filter((one) => !known.has(one)).entries()) {
        logs.push(logOf(madeUp(id, start + index), block));
      }
    }
    return logs;
  }

  private receipt(transactionHash: Hex): unknown {
    for (const block of this.chain.blocks.slice(0, this.head.number + 1)) {
      const entry = block.entries.find((one) => one.transactionHash === transactionHash);
      if (entry === undefined) continue;
      return receiptOf(block, transactionHash, [logOf(entry, block)]);
    }
    if (this.lie !== 'made-up cancellation') return null;
    const block = this.chain.final;
    const vaultId = vaultIdOfMadeUp(transactionHash);
    const start = block.entries.length;
    const logs = Array.from({ length: 8 }, (_, index) =>
      logOf(madeUp(vaultId, start + index), block),
    );
    return receiptOf(block, transactionHash, logs);
  }

  private gas({ data }: { data: Hex }): Hex {
    const vaultId = `0x${data.slice(10)}`;
    if (this.chain.statusOf(vaultId, this.head.number) !== 'none') {
      throw new NodeFault(3, 'execution reverted');
    }
    return '0x10000';
  }

  private send(raw: Hex): Hex {
    const { data = '0x' } = parseTransaction(raw);
    const hash: Hex = `0x${createHash('sha256').update(raw).digest('hex')}`;
    this.chain.submit({
      ...{ kind: 'cancel', hash, vaultId: `0x${data.slice(10)}` },
      by: `0x${'cc'.repeat(20)}` as Address,
    });
    return hash;
  }
}

interface LogFilter {
  readonly fromBlock: Hex;
  readonly toBlock: Hex;
  readonly topics: readonly (readonly string[] | undefined)[];
}

function word(value: bigint): Hex {
  return `0x${value.toString(16).padStart(64, '0')}`;
}

function addressWord(address: string): string {
  return address.slice(2).padStart(64, '0');
}

function logOf(
  { kind, vaultId, transactionHash, recipient, amount, logIndex }: VaultEntry,
  { number, hash }: Block,
): unknown {
  const isClaim = kind === 'claimed';
  const topics = isClaim ? [CLAIMED, vaultId, `0x${addressWord(recipient)}`] : [CANCELLED, vaultId];
  const data = isClaim
    ? `${word(amount)}${addressWord(`0x${'51'.repeat(20)}`)}`
    : `0x${addressWord(recipient)}`;
  return {
    ...{ address: VAULT, topics, data, transactionHash, removed: false },
    ...{ blockNumber: toHex(number), blockHash: hash, logIndex: toHex(logIndex) },
  };
}

function receiptOf({ number, hash }: Block, transactionHash: Hex, logs: unknown[]): unknown {
  return {
    ...{ status: '0x1', transactionHash, logs },
    ...{ blockNumber: toHex(number), blockHash: hash },
  };
}

/** The transaction of a made-up cancellation names its redemption. */
function madeUp(vaultId: string, logIndex: number): VaultEntry {
  const transactionHash: Hex = `0x${'f'.repeat(32)}${vaultId.slice(2, 34)}`;
  const recipient = `0x${'ee'.repeat(20)}` as Address;
  return { kind: 'cancelled', vaultId, transactionHash, recipient, amount: 0n, logIndex };
}

function vaultIdOfMadeUp(transactionHash: Hex): string {
  return `0x${transactionHash.slice(34)}${'0'.repeat(32)}`;
}
