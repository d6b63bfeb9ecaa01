import { encodeFunctionData, type Hex, maxUint256 } from 'viem';
import { lowmarkTokenAbi, stakingAbi } from '#libs/chain';
import { type Address } from '#libs/domain';
import { type DevRpc, type JsonRpcCall } from './json-rpc.js';
import { type StakingDeployment } from './deployments.js';

interface Transaction {
  readonly from: Address;
  readonly to: Address;
  readonly data: Hex;
  readonly gas: bigint;
}

/** Some stakes or withdrawals left no event, because the contract refused them. */
export class StakeEventsMissingError extends Error {}

/**
 * Makes staking activity on a local chain, block by block, with exact timestamps.
 *
 * Any address can be a wallet where the chain runs with `autoImpersonate`; else one of the chain's accounts. A wallet
 * given to `fund` stakes its own tokens; for any other wallet the treasury stakes, which leaves the same event.
 * Withdrawals are always the wallet's own transactions.
 */
export class StakingPlayer {
  readonly #rpc: DevRpc;
  readonly #funded = new Set<Address>();
  readonly #nonces = new Map<Address, number>();

  constructor(
    rpc: DevRpc,
    readonly contracts: StakingDeployment,
  ) {
    this.#rpc = rpc;
  }

  /** Registers wallets that were funded earlier on this chain, for a chain that was restarted. */
  markFunded(wallets: readonly Address[]): void {
    for (const wallet of wallets) this.#funded.add(wallet);
  }

  /** Transfers tokens to each wallet and approves the staking contract for them, in one block. */
  async fund(wallets: readonly Address[], amount: bigint, seconds: number): Promise<void> {
    const { token, staking, treasury } = this.contracts;
    const call = (from: Address, functionName: 'transfer' | 'approve', args: [Hex, bigint]) => ({
      from,
      to: token,
      data: encodeFunctionData({ abi: lowmarkTokenAbi, functionName, args }),
      gas: 100_000n,
    });
    await this.#send([
      ...wallets.map((wallet) => call(treasury, 'transfer', [wallet as Hex, amount])),
      ...wallets.map((wallet) => call(wallet, 'approve', [staking as Hex, maxUint256])),
    ]);
    await this.#mine(seconds);
    this.markFunded(wallets);
  }

  /** Mines one block with these transactions; see `play`. */
  async block(seconds: number, ...transactions: readonly StakeTransaction[]): Promise<bigint> {
    return this.play([{ seconds, transactions }]);
  }

  async mine(...seconds: readonly number[]): Promise<bigint> {
    return this.play(seconds.map((at) => ({ seconds: at, transactions: [] })));
  }

  /**
   * Mines the blocks and checks that every stake and withdrawal left its event. Others may send transactions or mine at
   * the same time.
   * @returns the number of the newest block
   * @throws StakeEventsMissingError
   */
  async play(blocks: readonly StakeBlock[], onBlock?: (done: number) => void): Promise<bigint> {
    // Others may have sent transactions from these wallets since the last call.
    this.#nonces.clear();
    const before = await this.head();
    let expected = 0;
    for (const [index, { seconds, transactions }] of blocks.entries()) {
      await this.#send(transactions.flatMap((one) => this.#encode(one)));
      await this.#mine(seconds);
      for (const one of transactions) expected += 'kind' in one ? 1 : one.length;
      onBlock?.(index + 1);
    }
    const head = await this.head();
    const events = await this.#countEvents(before + 1n, head);
    if (head < before + BigInt(blocks.length) || events < expected) {
      throw new StakeEventsMissingError(
        `played ${blocks.length} blocks with ${expected} events, found ${String(head - before)} with ${events}; ` +
          'was more withdrawn than staked?',
      );
    }
    return head;
  }

  /** Makes a reorganisation: removes the newest `depth` blocks and mines the given blocks instead. */
  async reorganise(depth: number, blocks: readonly StakeBlock[]): Promise<bigint> {
    await this.rollback(depth);
    return this.play(blocks);
  }

  /** Removes the newest `depth` blocks, so that the chain's head goes back. */
  async rollback(depth: number): Promise<void> {
    await this.#rpc.call('anvil_rollback', depth);
    this.#nonces.clear();
  }

  async head(): Promise<bigint> {
    return BigInt(await this.#rpc.call<string>('eth_blockNumber'));
  }

  #encode(transaction: StakeTransaction): Transaction[] {
    const moves = 'kind' in transaction ? [transaction] : transaction;
    const [first] = moves;
    if (!first) return [];
    const own = moves.every(
      ({ kind, wallet }) =>
        wallet === first.wallet && (kind === 'withdraw' || this.#funded.has(wallet)),
    );
    return [own ? this.#ownTransaction(first.wallet, moves) : this.#treasuryTransaction(moves)];
  }

  #ownTransaction(wallet: Address, moves: readonly StakeMove[]): Transaction {
    const calls = moves.map(({ kind, amount }) =>
      encodeFunctionData({ abi: stakingAbi, functionName: kind, args: [amount] }),
    );
    const [first] = calls;
    const data =
      first !== undefined && calls.length === 1
        ? first
        : encodeFunctionData({ abi: stakingAbi, functionName: 'multicall', args: [calls] });
    return { from: wallet, to: this.contracts.staking, data, gas: gasFor(moves.length) };
  }

  #treasuryTransaction(moves: readonly StakeMove[]): Transaction {
    if (moves.some(({ kind }) => kind === 'withdraw')) {
      throw new Error(
        'one transaction can hold the stakes of many wallets, or stakes and withdrawals of one funded wallet',
      );
    }
    const data = encodeFunctionData({
      abi: stakingAbi,
      functionName: 'stakeMany',
      args: [moves.map(({ wallet }) => wallet as Hex), moves.map(({ amount }) => amount)],
    });
    const { treasury, staking } = this.contracts;
    return { from: treasury, to: staking, data, gas: gasFor(moves.length) };
  }

  async #send(transactions: readonly Transaction[]): Promise<void> {
    if (transactions.length === 0) return;
    await this.#prepare(transactions.map(({ from }) => from));
    await this.#rpc.batch(
      transactions.map(({ from, to, data, gas }) => {
        const nonce = this.#nonces.get(from) ?? 0;
        this.#nonces.set(from, nonce + 1);
        const fields = { from, to, data, gas: hex(gas), gasPrice: '0x0', nonce: hex(nonce) };
        return { method: 'eth_sendTransaction', params: [fields] };
      }),
    );
  }

  /**
   * Reads the nonces of the senders and counts them in this process: the node executes a batch in any order, so it
   * could not assign them.
   */
  async #prepare(senders: readonly Address[]): Promise<void> {
    const unknown = [...new Set(senders)].filter((sender) => !this.#nonces.has(sender));
    if (unknown.length === 0) return;
    const calls: JsonRpcCall[] = unknown.map((sender) => ({
      method: 'eth_getTransactionCount',
      params: [sender, 'pending'],
    }));
    for (const [index, count] of (await this.#rpc.batch(calls)).entries()) {
      const sender = unknown[index];
      if (sender !== undefined) this.#nonces.set(sender, Number(count));
    }
  }

  async #mine(seconds: number): Promise<void> {
    await this.#rpc.call('evm_mine', seconds);
  }

  async #countEvents(from: bigint, to: bigint): Promise<number> {
    if (from > to) return 0;
    const filter = { address: this.contracts.staking, fromBlock: hex(from), toBlock: hex(to) };
    return (await this.#rpc.call<unknown[]>('eth_getLogs', filter)).length;
  }
}

function hex(value: bigint | number): Hex {
  return `0x${value.toString(16)}`;
}

/** Enough gas for this number of first stakes. */
function gasFor(moves: number): bigint {
  return 150_000n + 60_000n * BigInt(moves);
}

/** One `Staked` or `Withdrawn` event of a transaction; amounts in the token's smallest unit. */
export interface StakeMove {
  readonly kind: 'stake' | 'withdraw';
  readonly wallet: Address;
  readonly amount: bigint;
}

/** One transaction: a single event, or several in this order. */
export type StakeTransaction = StakeMove | readonly StakeMove[];

/** One block; its transactions execute in any order, except that the transactions of one wallet keep their order. */
export interface StakeBlock {
  /** Unix seconds, not below the previous block's timestamp. */
  readonly seconds: number;
  readonly transactions: readonly StakeTransaction[];
}

export function stake(wallet: Address, amount: bigint): StakeMove {
  return { kind: 'stake', wallet, amount };
}

export function withdraw(wallet: Address, amount: bigint): StakeMove {
  return { kind: 'withdraw', wallet, amount };
}
