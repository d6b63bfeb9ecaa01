/** The chain of a test that moves the time: its blocks, and claims by users. */
import { claimCalldata, vaultIdOf, VoucherSigner } from '#libs/chain';
import { type DevTransaction } from '#libs/devchain';
import { type Redemption } from '#libs/domain';
import { VaultBench } from '#libs/testing/vault';

const TO_FINALITY = 5;
const CLAIMS_A_BLOCK = 400;
const CLAIM_GAS = '0x40000';

export class ChainPlayer {
  private readonly signer: VoucherSigner;

  constructor(readonly bench: VaultBench) {
    this.signer = new VoucherSigner(bench.place, VaultBench.SIGNER_KEY);
  }

  /** Sends the claims of redemptions, each from its own wallet, in blocks of some hundreds, and makes all of them final. */
  async claimAll(all: readonly Redemption[], seconds: number): Promise<void> {
    const { rpc } = this.bench.chain;
    for (let at = 0; at < all.length; at += CLAIMS_A_BLOCK) {
      const claims = all.slice(at, at + CLAIMS_A_BLOCK).map((redemption) => this.claim(redemption));
      await rpc.batch(
        (await Promise.all(claims)).map((transaction) => ({
          method: 'eth_sendTransaction',
          params: [{ ...transaction, gas: CLAIM_GAS, gasPrice: '0x0' }],
        })),
      );
      await this.mine(seconds);
    }
    await this.mine(seconds, TO_FINALITY);
  }

  /** Mines this many blocks. Block times never decrease. */
  async mine(seconds: number, blocks = 1): Promise<void> {
    const at = Math.max(seconds, this.bench.seconds);
    for (let block = 0; block < blocks; block++) await this.bench.chain.rpc.call('evm_mine', at);
    this.bench.seconds = at;
  }

  private async claim({ id, wallet, plan }: Redemption): Promise<DevTransaction> {
    if (plan === null) throw new Error(`${id} has no plan that could be claimed`);
    const voucher = { ...plan, vaultId: vaultIdOf(id) };
    const signature = await this.signer.sign(voucher);
    return { from: wallet, to: this.bench.vault, data: claimCalldata(voucher, signature) };
  }
}
