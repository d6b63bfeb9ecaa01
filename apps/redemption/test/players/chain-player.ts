/**
 * The chain of a simulation: blocks at the simulated time, claims by users, and reorganisations above the final block.
 */
import { claimCalldata, vaultIdOf, VoucherSigner } from '#libs/chain';
import { type DevReceipt, type DevTransaction, mineBlock } from '#libs/devchain';
import { type Address, type Redemption } from '#libs/domain';
import { VaultBench } from '#libs/testing';
import { type Dice } from '../world/dice.js';

interface MinedBlock {
  readonly transactions: readonly DevTransaction[];
}

/** Blocks of the deepest reorganisation; `finalized` is four blocks below the newest one. */
const DEEPEST = 3;
const TO_FINALITY = 5;
const CLAIMS_A_BLOCK = 400;
const CLAIM_GAS = '0x40000';

export class ChainPlayer {
  reorganisations = 0;
  /** Number of claims that a reorganisation removed for good. */
  lostClaims = 0;
  private readonly signer: VoucherSigner;
  private readonly recent: MinedBlock[] = [];
  private waiting: DevTransaction[] = [];

  constructor(
    readonly bench: VaultBench,
    private readonly dice: Dice,
  ) {
    this.signer = new VoucherSigner(bench.place, VaultBench.SIGNER_KEY);
  }

  /** Adds the transaction to the next block. */
  send(transaction: DevTransaction): void {
    this.waiting.push(transaction);
  }

  /** Sends the claim of an authorised payout, as any holder of the voucher can. */
  async claim({ id, plan }: Redemption, from: Address): Promise<void> {
    if (plan === null) throw new Error(`${id} has no plan that could be claimed`);
    const voucher = { ...plan, vaultId: vaultIdOf(id) };
    const signature = await this.signer.sign(voucher);
    this.send({ from, to: this.bench.vault, data: claimCalldata(voucher, signature) });
  }

  /**
   * Sends the claims of many redemptions, each from its own wallet, in blocks of some hundreds, and makes all of them
   * final.
   */
  async claimAll(all: readonly Redemption[], seconds: number): Promise<void> {
    const { rpc } = this.bench.chain;
    for (let at = 0; at < all.length; at += CLAIMS_A_BLOCK) {
      const part = all.slice(at, at + CLAIMS_A_BLOCK);
      for (const redemption of part) await this.claim(redemption, redemption.wallet);
      await rpc.batch(
        this.waiting.splice(0).map((transaction) => ({
          method: 'eth_sendTransaction',
          params: [{ ...transaction, gas: CLAIM_GAS, gasPrice: '0x0' }],
        })),
      );
      await this.mine(seconds);
    }
    await this.mine(seconds, TO_FINALITY);
  }

  /** Mines this many blocks; waiting transactions go into the first one. Block times never decrease. */
  async mine(seconds: number, blocks = 1): Promise<DevReceipt[]> {
    const at = Math.max(seconds, this.bench.seconds);
    const transactions = this.waiting.splice(0);
    const receipts = await mineBlock(this.bench.chain.rpc, at, transactions);
    this.remember({ transactions });
    for (let block = 1; block < blocks; block++) {
      await this.bench.chain.rpc.call('evm_mine', at);
      this.remember({ transactions: [] });
    }
    this.bench.seconds = at;
    return receipts;
  }

  /** Drops the newest blocks. Some of their transactions are sent again; the others are lost. */
  async reorganise(seconds: number): Promise<void> {
    const depth = Math.min(this.dice.between(1, DEEPEST), this.recent.length);
    if (depth === 0) return;
    this.reorganisations++;
    const dropped = this.recent.splice(-depth).flatMap(({ transactions }) => transactions);
    await this.bench.rollback(depth);
    for (const transaction of dropped) {
      if (this.dice.chance(0.6)) this.waiting.push(transaction);
      else this.lostClaims++;
    }
    await this.mine(seconds, depth);
  }

  private remember(block: MinedBlock): void {
    this.recent.push(block);
    if (this.recent.length > DEEPEST) this.recent.shift();
  }
}
