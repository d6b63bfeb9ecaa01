/** Pays by vouchers: the service signs, any account sends the claim, and the vault pays each redemption once. */
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { claimCalldata, RpcPool, vaultIdOf, VaultReader, voucherTypedData } from '#libs/chain';
import { KnownVaults } from '#libs/db';
import {
  type Address,
  type Decimal,
  isUnheldAddress,
  LowmarkError,
  payableUntilSeconds,
  type PayoutEvidence,
  type PayoutPlace,
  type PayoutTerms,
  PermanentError,
  type Redemption,
  type VaultStatus,
} from '#libs/domain';
import { CLOCK, type Clock } from '#libs/platform';
import { LedgerWatch } from '../ledger/ledger-watch.js';
import { RedemptionSettings } from '../redemption.env.js';
import { CancelRequests } from './cancel-requests.js';
import { EveryVault } from './every-vault.js';
import {
  type CommittedPayout,
  type SealedPayout,
  type UnplannedEvidence,
  type Voucher,
} from './payout.js';
import { VaultAccounts } from './vault-accounts.js';

/** Most readers that are kept: one for each vault on which payouts may be open. */
const VAULTS = 16;
/** Placeholder for the redemption's id while a plan is checked. */
const ANY_ID = vaultIdOf('00000000-0000-7000-8000-000000000000');

type Payable = Pick<Redemption, 'id' | 'wallet' | 'tokenAmount'>;

@Injectable()
export class VoucherPayout {
  private readonly readers = new LRUCache<Address, VaultReader>({ max: VAULTS });
  private isNamed = false;

  /** @throws PermanentError where FINALITY is wrong */
  constructor(
    private readonly settings: RedemptionSettings,
    private readonly pool: RpcPool,
    private readonly vaults: KnownVaults,
    private readonly accounts: VaultAccounts,
    private readonly cancels: CancelRequests,
    private readonly everyVault: EveryVault,
    private readonly ledger: LedgerWatch,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.readerOf(settings.vaultContract);
  }

  /**
   * Makes a plan, which binds nothing until it is committed. The deadline is by our own clock, whatever the time of the
   * chain's blocks.
   * @throws PermanentError VOUCHER_INVALID where no vault would pay the plan, or the tokens would be lost: the
   * wallet has no holder, or it is a contract of the settings
   * @throws EndpointsDisagreeError where two endpoints differ about the final block; AllEndpointsFailedError
   */
  async plan({
    id,
    wallet,
    tokenAmount,
  }: Payable): Promise<{ readonly plan: PayoutTerms; readonly place: PayoutPlace }> {
    const { vaultPlace: place, voucherTtlSeconds, vaultStartBlock: startBlock } = this.settings;
    const reader = this.readerOf(place.vault);
    const finalised = await reader.finalised();
    // With status none at the final block, all events of this id are later. Otherwise a voucher that a restored ledger
    // has forgotten may have ended already, or the vault may be newer than the final block: the search for events then
    // begins at the vault's start.
    const [status] = await reader.statuses([vaultIdOf(id)], finalised).catch(noStatus);
    const fromBlock = status === 'none' ? finalised.number : startBlock;
    const deadlineSeconds = Math.ceil(this.clock.nowMs() / 1000) + voucherTtlSeconds;
    const plan = { recipient: wallet, amount: tokenAmount, deadlineSeconds };
    if (isUnheldAddress(wallet, this.settings.ownContracts)) {
      throw new PermanentError('VOUCHER_INVALID', `${wallet} has no holder: it is not paid.`);
    }
    // A plan that could not be signed must not be committed either.
    voucherTypedData(place, { ...plan, vaultId: ANY_ID });
    await this.nameInLedger();
    return { plan, place: { ...place, fromBlock } };
  }

  /**
   * The evidence about a redemption of which the ledger has no plan: paid, never to be paid, or neither yet. A voucher
   * that a restored ledger has forgotten can be claimed until `lostVoucherUntilSeconds`, on any vault of the chain that
   * the ledger names.
   * @throws LowmarkError where the chain cannot be asked now
   */
  observeUnplanned({
    id: redemptionId,
    wallet: recipient,
    tokenAmount: amount,
    lostVoucherUntilSeconds,
  }: Payable & Pick<Redemption, 'lostVoucherUntilSeconds'>): Promise<UnplannedEvidence> {
    return this.everyVault.observe({ redemptionId, recipient, amount, lostVoucherUntilSeconds });
  }

  /**
   * Signs the committed plan; the same plan gives the same bytes.
   * @throws PermanentError where the plan is of another vault, or EVIDENCE_INVALID where the row does not bear our MAC;
   *   RestoreNotNotedError, DatabaseUnavailableError
   */
  async authorise({ redemptionId, plan, place, isSealed }: SealedPayout): Promise<Voucher> {
    requireSealed(isSealed);
    await this.ledger.requireNoted();
    const { vault, chainId } = this.settings.vaultPlace;
    if (place.vault !== vault || place.chainId !== chainId) {
      throw new PermanentError(
        'PAYOUT_PLACE_REPLACED',
        `The payout is planned on vault ${place.vault} of chain ${place.chainId}, and VAULT_CONTRACT is ${vault} of chain ${chainId}: it expires, and the points go back.`,
      );
    }
    const vaultRedemptionId = vaultIdOf(redemptionId);
    const voucher = { ...plan, vaultId: vaultRedemptionId };
    const signature = await this.accounts.signer.sign(voucher);
    const calldata = claimCalldata(voucher, signature);
    const { recipient, amount, deadlineSeconds } = plan;
    return {
      chainId,
      vault,
      vaultRedemptionId,
      recipient,
      amount,
      deadlineSeconds,
      signature,
      calldata,
    };
  }

  /**
   * The evidence about each payout, in their order, from the vault that it was planned on. Vouchers that a restored
   * ledger may have forgotten are searched for as well. Where one of several vaults cannot be read, its payouts are
   * `live` with a doubt, and the others are judged.
   * @throws LowmarkError where the chain cannot be asked now
   */
  async observe(payouts: readonly CommittedPayout[]): Promise<PayoutEvidence[]> {
    const { chainId } = this.settings;
    const evidence = new Map<CommittedPayout, PayoutEvidence>();
    const byVault = new Map<Address, CommittedPayout[]>();
    for (const payout of payouts) {
      const { place } = payout;
      if (place.chainId !== chainId) evidence.set(payout, ofAnotherChain(place, chainId));
      else byVault.set(place.vault, [...(byVault.get(place.vault) ?? []), payout]);
    }
    const failures: LowmarkError[] = [];
    await Promise.all(
      [...byVault].map(async ([vault, group]) => {
        try {
          const found = await this.observeOn(vault, group);
          for (const [index, payout] of group.entries()) {
            evidence.set(payout, found[index] ?? { outcome: 'live' });
          }
        } catch (error) {
          if (!(error instanceof LowmarkError)) throw error;
          failures.push(error);
          for (const payout of group) evidence.set(payout, unread(vault, error));
        }
      }),
    );
    const [failure] = failures;
    if (failure !== undefined && failures.length === byVault.size) throw failure;
    return Promise.all(
      payouts.map((payout) =>
        this.withLostVouchers(payout, evidence.get(payout) ?? { outcome: 'live' }),
      ),
    );
  }

  /**
   * Requests a cancellation on the vault, and does not wait for it. The request is no evidence; repeating it is
   * harmless.
   * @param usdAmount USD value of the points: for a small one the vault is not asked, and the payout expires
   * @throws PermanentError where the vault is of another chain
   */
  requestCancel({ redemptionId, place }: CommittedPayout, usdAmount: Decimal): void {
    const { chainId } = this.settings;
    if (place.chainId !== chainId) {
      throw new PermanentError(
        'PAYOUT_OF_ANOTHER_CHAIN',
        `The payout is planned on chain ${place.chainId}, and CHAIN_ID is ${chainId}.`,
      );
    }
    this.cancels.request({ redemptionId, vault: place.vault, usdAmount });
  }

  /** Resolves when all requested cancellations were sent or refused. */
  cancelsSent(): Promise<void> {
    return this.cancels.sent();
  }

  /** Awaits the cancellation under way, and drops the others. */
  close(): Promise<void> {
    return this.cancels.close();
  }

  private async nameInLedger(): Promise<void> {
    if (this.isNamed) return;
    const { chainId, vaultContract: vault, vaultStartBlock: startBlock } = this.settings;
    await this.vaults.add(chainId, { vault, startBlock });
    this.isNamed = true;
  }

  /**
   * A payout that is dead by its plan may still be paid by a forgotten voucher on another vault: the other vaults are
   * asked as well.
   */
  private async withLostVouchers(
    { redemptionId, plan, place, lostVoucherUntilSeconds = null }: CommittedPayout,
    evidence: PayoutEvidence,
  ): Promise<PayoutEvidence> {
    if (lostVoucherUntilSeconds === null || evidence.outcome !== 'dead') return evidence;
    const { recipient, amount } = plan;
    const voucher = { redemptionId, recipient, amount, lostVoucherUntilSeconds };
    try {
      return (await this.everyVault.withOtherVaults({ evidence, place }, voucher)).evidence;
    } catch (error) {
      if (!(error instanceof LowmarkError)) throw error;
      const text = `not every vault can be read: ${error.message}`;
      return { outcome: 'live', doubt: { kind: 'unconfirmed', text } };
    }
  }

  private observeOn(vault: Address, payouts: readonly CommittedPayout[]) {
    const watched = payouts.map((payout) => {
      const { redemptionId, plan, place, lostVoucherUntilSeconds = null } = payout;
      const deadlineSeconds = payableUntilSeconds({ plan, lostVoucherUntilSeconds });
      return { ...plan, deadlineSeconds, redemptionId, fromBlock: place.fromBlock };
    });
    return this.readerOf(vault).observe(watched);
  }

  private readerOf(vault: Address): VaultReader {
    const known = this.readers.get(vault);
    if (known) return known;
    const { tokenContract: token, finality } = this.settings;
    const { payoutExpiryMarginSeconds: marginSeconds } = this.settings;
    const options = { vault, token, finality, clock: this.clock, marginSeconds };
    const reader = new VaultReader(this.pool, options);
    this.readers.set(vault, reader);
    return reader;
  }
}

/** Checks at run time what the type already says: the signer trusts no caller. */
function requireSealed(isSealed: unknown): void {
  if (isSealed === true) return;
  throw new PermanentError(
    'EVIDENCE_INVALID',
    'The row of this redemption does not bear the service’s MAC: it is not paid. See docs/operating/redemption.md.',
  );
}

function noStatus(error: unknown): VaultStatus[] {
  if (!(error instanceof LowmarkError)) throw error;
  return [];
}

function ofAnotherChain(place: PayoutPlace, chainId: number): PayoutEvidence {
  const text = `the payout is planned on chain ${place.chainId}, and CHAIN_ID is ${chainId}`;
  return { outcome: 'live', doubt: { kind: 'contradiction', text } };
}

function unread(vault: Address, error: LowmarkError): PayoutEvidence {
  const text = `vault ${vault} cannot be read: ${error.message}`;
  return { outcome: 'live', doubt: { kind: 'unconfirmed', text } };
}
