/** What is checked whenever the index is level with the chain: wallets first, then it may be called synced. */
import { inSpan } from '#libs/platform';
import { type IndexWriter } from '../apply/index-writer.js';
import { type RangeApplier } from '../apply/range-applier.js';
import { type VerificationPolicy } from '../verify/verification-policy.js';
import { type WalletCheck } from '../verify/wallet-check.js';
import { type ChainHeads, finalisedOf } from './next-step.js';

export class LevelCheck {
  constructor(
    private readonly writer: IndexWriter,
    private readonly applier: RangeApplier,
    private readonly walletCheck: WalletCheck,
    private readonly policy: VerificationPolicy,
  ) {}

  /** @returns false where the index was rolled back instead */
  async pass(heads: ChainHeads, signal: AbortSignal): Promise<boolean> {
    const { writer, applier, walletCheck } = this;
    await writer.settled();
    const finalised = finalisedOf(writer.indexed, heads);
    if (finalised?.number !== writer.state.finalised?.number)
      await writer.note({ finalised, synced: false });
    if (walletCheck.isDue(writer)) {
      const result = await inSpan({ name: 'wallet check' }, () =>
        walletCheck.check(writer, signal),
      );
      if (result.kind === 'roll-back') {
        await applier.undo(result.to, 'repair');
        return false;
      }
      // Before what the wallets vouch for is noted: the total may lead back to the first block.
      if (!writer.synced && !(await applier.agreesInAll())) return false;
      const { verifiedNumber } = result;
      if (verifiedNumber !== undefined)
        await writer.note({ finalised, verifiedNumber, synced: false });
    }
    if (!writer.synced) {
      await writer.note({ finalised, synced: true });
      await applier.warnIfNoneCounts();
    }
    this.policy.hasComparedWallets = true;
    if (writer.state.halted) await writer.resume();
    return true;
  }
}
