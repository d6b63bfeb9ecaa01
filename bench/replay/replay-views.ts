/** eth_call of a synthetic chain: the views of its contracts at any block. */
import { decodeFunctionData, encodeAbiParameters, encodeFunctionResult, type Hex } from 'viem';
import { ReplayFault } from './replay-fault.js';
import { type ReplayChain } from './replay-chain.js';
import {
  MULTICALL3,
  MULTICALL_ABI,
  replayWalletNumber,
  SELECTORS,
  wordOfNumber,
} from './replay-contracts.js';

const SYMBOL = 'RPLY';
const DECIMALS = 18;
/** The block from which on the contracts exist. */
const FIRST_BLOCK = 1;
/** Arbitrary code, since no code is executed. */
const CODE = '0x60806040';

interface CallResult {
  readonly success: boolean;
  readonly returnData: Hex;
}

export class ReplayViews {
  constructor(private readonly chain: ReplayChain) {}

  code(address: string, block: number): string {
    return this.isContract(address, block) ? CODE : '0x';
  }

  /** @throws ReplayFault where the contract reverts */
  call(to: string, data: string, block: number): string {
    if (!this.isContract(to, block)) return '0x';
    const selector = data.slice(0, 10);
    if (to === MULTICALL3) return this.aggregate(selector, data, block);
    const answer =
      to === this.chain.contracts.token
        ? this.ofToken(selector)
        : this.ofStaking(selector, data, block);
    if (answer === undefined) throw new ReplayFault(3, 'execution reverted', '0x');
    return answer;
  }

  private isContract(address: string, block: number): boolean {
    const { contracts, shape } = this.chain;
    const known: readonly string[] = [contracts.staking, contracts.token];
    return (
      block >= FIRST_BLOCK &&
      (known.includes(address) || (shape.multicall && address === MULTICALL3))
    );
  }

  private ofToken(selector: string): string | undefined {
    if (selector === SELECTORS.symbol) return encodeAbiParameters([{ type: 'string' }], [SYMBOL]);
    return selector === SELECTORS.decimals ? wordOfNumber(DECIMALS) : undefined;
  }

  private ofStaking(selector: string, data: string, block: number): string | undefined {
    const { history, shape } = this.chain;
    if (shape.contract === 'masterchef') {
      if (selector !== SELECTORS.userInfo || data.length < 138) return undefined;
      const pool = Number(`0x${data.slice(10, 74)}`);
      const amount = this.balance(`0x${data.slice(98, 138)}`, pool, block);
      // The second output is the reward debt: a value that differs from the amount.
      return `${wordOfNumber(amount)}${wordOfNumber(amount / 3n).slice(2)}`;
    }
    if (selector === SELECTORS.totalStaked || selector === SELECTORS.totalSupply)
      return wordOfNumber(history.totalAt(block));
    if (selector !== SELECTORS.balanceOf || data.length < 74) return undefined;
    return wordOfNumber(this.balance(`0x${data.slice(34, 74)}`, 0, block));
  }

  private balance(wallet: string, pool: number, block: number): bigint {
    const index = replayWalletNumber(this.chain.shape, wallet.toLowerCase());
    const isPool = Number.isInteger(pool) && pool < this.chain.shape.pools;
    return index === undefined || !isPool ? 0n : this.chain.history.balanceAt(index, pool, block);
  }

  private aggregate(selector: string, data: string, block: number): string {
    if (selector !== SELECTORS.aggregate3) throw new ReplayFault(3, 'execution reverted', '0x');
    const { args } = decodeFunctionData({ abi: MULTICALL_ABI, data: data as Hex });
    const resultOf = ({ target, allowFailure, callData }: (typeof args)[0][number]): CallResult => {
      try {
        const returnData = this.call(target.toLowerCase(), callData, block) as Hex;
        return { success: true, returnData };
      } catch (error) {
        if (!(error instanceof ReplayFault) || !allowFailure)
          throw new ReplayFault(3, 'execution reverted: Multicall3: call failed', '0x');
        return { success: false, returnData: '0x' };
      }
    };
    return encodeFunctionResult({ abi: MULTICALL_ABI, result: args[0].map(resultOf) });
  }
}
