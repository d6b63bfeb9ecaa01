/** Pays by vouchers: the service signs, whoever likes sends the claim, and the vault pays each redemption once. */
import { LRUCache } from 'lru-cache';
import {
  claimCalldata,
  type RpcPool,
  type VaultFacts,
  vaultIdOf,
  type VaultPlace,
  VaultReader,
  voucherTypedData,
  VoucherSigner,
} from '#libs/chain';
import { type KnownVaults, type PayoutPlace } from '#libs/db';
import {
  type Address,
  type Decimal,
  LowmarkError,
  payableUntilSeconds,
  type PayoutEvidence,
  type PayoutTerms,
  PermanentError,
  type Redemption,
  type VaultStatus,
} from '#libs/domain';
import { type Clock, type Logger } from '#libs/platform';
import { type Alert } from '../observe/alerts.js';
import { CancelRequests } from './cancel-requests.js';
import { EveryVault } from './every-vault.js';
import {
  type CommittedPayout,
  type PayoutPort,
  type SealedPayout,
  type UnplannedEvidence,
  type UnplannedRedemption,
  type Voucher,
} from './payout-port.js';
import { type PayoutRefusal } from './payout-refusal.js';
import { createVaultAccount, type GasPolicy } from './vault-account.factory.js';
import { VaultConditions, type VaultReport } from './vault-conditions.js';

/** When a voucher is cancelled on chain, and what that may cost. */
export interface CancelPolicy extends GasPolicy {
  /** What is worth less expires. */
  readonly minUsd: Decimal;
  readonly logger: Logger;
  readonly raise: (alert: Alert) => void;
}

export interface VoucherPayoutOptions {
  readonly pool: RpcPool;
  readonly clock: Clock;
  readonly place: VaultPlace;
  readonly token: Address;
  /** FINALITY: `finalized`, `safe` or `depth:<blocks>`. */
  readonly finality: string;
  readonly voucherTtlSeconds: number;
  /** With a single endpoint: how long past its deadline by our clock a voucher must be before points go back. Default 0. */
  readonly expiryMarginSeconds?: number;
  /** Of the vault; no event of it is older. Default 0. */
  readonly startBlock?: bigint;
  /** The ledger's: payouts that it has forgotten may be of any of them. */
  readonly vaults: Pick<KnownVaults, 'of' | 'add'>;
  readonly signerKey: string;
  /** By default the signer's. */
  readonly cancellerKey?: string | undefined;
  readonly cancelling: CancelPolicy;
}

/** Vaults that payouts may still be open on: this one and those it replaced. */
const VAULTS = 16;
/** Stands for the redemption's id while a plan is tried. */
const ANY_ID = vaultIdOf('00000000-0000-7000-8000-000000000000');

export class VoucherPayout implements PayoutPort {
  private readonly signer: VoucherSigner;
  private readonly conditions: VaultConditions;
  private readonly cancels: CancelRequests;
  private readonly readers = new LRUCache<Address, VaultReader>({ max: VAULTS });
  private readonly everyVault: EveryVault;
  private isNamed = false;

  /** @throws PermanentError where a key or FINALITY is wrong; no message repeats a key */
  constructor(private readonly options: VoucherPayoutOptions) {
    const { pool, clock, place, token, signerKey, cancellerKey = signerKey } = options;
    const { cancelling, voucherTtlSeconds } = options;
    const { chainId } = place;
    this.signer = new VoucherSigner(place, signerKey);
    const account = createVaultAccount({ pool, chainId, clock }, cancellerKey, cancelling);
    const roles = { signer: this.signer.address, canceller: account.address };
    const question = { place, token, ...roles, voucherTtlSeconds };
    this.conditions = new VaultConditions(pool, question, clock);
    this.cancels = new CancelRequests({ pool, clock, chainId, token, account, ...cancelling });
    this.everyVault = new EveryVault(options);
    this.readerOf(place.vault);
  }

  /**
   * The deadline is by our own clock, whatever time the chain's blocks claim to be of.
   * @throws PermanentError VOUCHER_INVALID where no vault would pay it: to the vault itself, say
   * @throws EndpointsDisagreeError where two endpoints differ about the final block; AllEndpointsFailedError
   */
  async plan({
    id,
    wallet,
    tokenAmount,
  }: Pick<Redemption, 'id' | 'wallet' | 'tokenAmount'>): Promise<{
    readonly plan: PayoutTerms;
    readonly place: PayoutPlace;
  }> {
    const { clock, place, voucherTtlSeconds, startBlock = 0n } = this.options;
    const reader = this.readerOf(place.vault);
    const finalised = await reader.finalised();
    // What has come to its end already did so before this plan, which a restored ledger may not know; and a vault may be younger than
    // the final block.
    const [status] = await reader.statuses([vaultIdOf(id)], finalised).catch(noStatus);
    const fromBlock = status === 'none' ? finalised.number : startBlock;
    const deadlineSeconds = Math.ceil(clock.nowMs() / 1000) + voucherTtlSeconds;
    const plan = { recipient: wallet, amount: tokenAmount, deadlineSeconds };
    // What could not be signed must not be committed either.
    voucherTypedData(place, { ...plan, vaultId: ANY_ID });
    await this.nameInLedger();
    return { plan, place: { ...place, fromBlock } };
  }

  observeUnplanned(redemption: UnplannedRedemption): Promise<UnplannedEvidence> {
    const { id: redemptionId, wallet: recipient, tokenAmount: amount } = redemption;
    const { lostVoucherUntilSeconds } = redemption;
    return this.everyVault.observe({ redemptionId, recipient, amount, lostVoucherUntilSeconds });
  }

  async authorise({ redemptionId, plan, place, isSealed }: SealedPayout): Promise<Voucher> {
    requireSealed(isSealed);
    const { vault, chainId } = this.options.place;
    if (place.vault !== vault || place.chainId !== chainId) {
      throw new PermanentError(
        'PAYOUT_PLACE_REPLACED',
        `The payout is planned on vault ${place.vault} of chain ${place.chainId}, and VAULT_CONTRACT is ${vault} of chain ${chainId}: it expires, and the points go back.`,
      );
    }
    const vaultRedemptionId = vaultIdOf(redemptionId);
    const voucher = { ...plan, vaultId: vaultRedemptionId };
    const signature = await this.signer.sign(voucher);
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
   * Payouts are looked for on the vault that they were planned on. Where one vault of several cannot be read, its payouts are `live`
   * with a doubt, and the others are not held up.
   */
  async observe(payouts: readonly CommittedPayout[]): Promise<PayoutEvidence[]> {
    const { chainId } = this.options.place;
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
        this.unlessForgotten(payout, evidence.get(payout) ?? { outcome: 'live' }),
      ),
    );
  }

  /** @throws PermanentError where the vault is of another chain */
  requestCancel({ redemptionId, place }: CommittedPayout, usdAmount: Decimal): void {
    const { chainId } = this.options.place;
    if (place.chainId !== chainId) {
      throw new PermanentError(
        'PAYOUT_OF_ANOTHER_CHAIN',
        `The payout is planned on chain ${place.chainId}, and CHAIN_ID is ${chainId}.`,
      );
    }
    this.cancels.request({ redemptionId, vault: place.vault, usdAmount });
  }

  /** When the vault was asked for all cancellations, or they were refused. */
  cancelsSent(): Promise<void> {
    return this.cancels.sent();
  }

  /** Lets the cancellation under way be sent, and no other. */
  close(): Promise<void> {
    return this.cancels.close();
  }

  refusal(tokenAmount: bigint, promised: bigint): Promise<PayoutRefusal | undefined> {
    return this.conditions.refusal(tokenAmount, promised);
  }

  room(tokenAmount: bigint): Promise<bigint> {
    return this.conditions.room(tokenAmount);
  }

  /** For the health page. */
  report(): Promise<VaultReport> {
    return this.conditions.report();
  }

  /** Of the vault's newest block, at most ten seconds old. @throws AllEndpointsFailedError */
  facts(): Promise<VaultFacts> {
    return this.conditions.facts();
  }

  private async nameInLedger(): Promise<void> {
    if (this.isNamed) return;
    const { vaults, place, startBlock = 0n } = this.options;
    await vaults.add(place.chainId, { vault: place.vault, startBlock });
    this.isNamed = true;
  }

  /** One that is dead by its plan may be alive by a voucher that a restored ledger has forgotten, on another vault. */
  private async unlessForgotten(
    { redemptionId, plan, place, lostVoucherUntilSeconds = null }: CommittedPayout,
    evidence: PayoutEvidence,
  ): Promise<PayoutEvidence> {
    if (lostVoucherUntilSeconds === null || evidence.outcome !== 'dead') return evidence;
    const { recipient, amount } = plan;
    const voucher = { redemptionId, recipient, amount, lostVoucherUntilSeconds };
    try {
      return (await this.everyVault.unlessElsewhere({ evidence, place }, voucher)).evidence;
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
    const { pool, token, finality, clock, expiryMarginSeconds: marginSeconds = 0 } = this.options;
    const reader = new VaultReader(pool, { vault, token, finality, clock, marginSeconds });
    this.readers.set(vault, reader);
    return reader;
  }
}

/** The types say so already; the signer believes only what it sees. */
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
