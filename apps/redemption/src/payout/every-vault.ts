/**
 * Searches all vaults that may pay a redemption whose voucher the ledger does not have: the current vault and those
 * that it replaced. One vault that paid is enough; that nothing can be paid any more must be said by all of them.
 */
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { readVaultFacts, RpcPool, VaultReader } from '#libs/chain';
import { type KnownVault, KnownVaults } from '#libs/db';
import { type Address, type UuidV7 } from '#libs/domain';
import { CLOCK, type Clock } from '#libs/platform';
import { RedemptionSettings } from '../redemption.env.js';
import { type UnplannedEvidence } from './payout.js';

export interface LostVoucher {
  /** Unix time in seconds until which a lost voucher can be claimed; see Redemption. Null: none was lost. */
  readonly lostVoucherUntilSeconds: number | null;
  readonly redemptionId: UuidV7;
  readonly recipient: Address;
  readonly amount: bigint;
}

/** Deadline, in Unix seconds, of a voucher that the ledger does not remember: no claim is too late for it. */
const ANY_DEADLINE = Number.MAX_SAFE_INTEGER;
/** First block of a search that finds no events, so that only the status is asked for. */
const AFTER_ALL_BLOCKS = 2n ** 64n;
const VAULTS = 16;
/**
 * Milliseconds for which the list of vaults is kept. An operator adds vaults of lost vouchers only while no redemption
 * service runs, so the list is complete when the service starts.
 */
const VAULT_LIST_TTL_MS = 600_000;

@Injectable()
export class EveryVault {
  private readonly readers = new LRUCache<Address, VaultReader>({ max: VAULTS });
  private known: { readonly vaults: readonly KnownVault[]; readonly atMs: number } | undefined;

  constructor(
    private readonly settings: RedemptionSettings,
    private readonly pool: RpcPool,
    private readonly vaults: KnownVaults,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @throws LowmarkError where a vault or the ledger cannot be asked now */
  async observe(voucher: LostVoucher): Promise<UnplannedEvidence> {
    const { vaultContract: vault, vaultStartBlock: startBlock } = this.settings;
    const own = await this.search(this.currentVault(), { vault, startBlock }, voucher);
    return this.withOtherVaults(own, voucher);
  }

  /**
   * Compares the evidence of one vault with that of the other vaults. One that paid decides; else one that is still
   * live, with a contradiction before any other; the result is dead only where all of them are.
   * @throws LowmarkError where a vault or the ledger cannot be asked now
   */
  async withOtherVaults(
    first: UnplannedEvidence,
    voucher: LostVoucher,
  ): Promise<UnplannedEvidence> {
    if (first.evidence.outcome === 'paid') return first;
    let open = first.evidence.outcome === 'live' ? first : undefined;
    for (const known of await this.knownVaults()) {
      if (known.vault === first.place.vault) continue;
      const seen = await this.searchOn(known, voucher);
      if (seen?.evidence.outcome === 'paid') return seen;
      if (seen?.evidence.outcome === 'live' && !isContradiction(open)) open = seen;
    }
    return open ?? first;
  }

  private async searchOn(
    known: KnownVault,
    voucher: LostVoucher,
  ): Promise<UnplannedEvidence | undefined> {
    const reader = await this.readerOf(known.vault);
    if (reader) return this.search(reader, known, voucher);
    // Where no voucher was lost, other vaults are an extra check only: a wrong address must not hold back points for
    // ever.
    if (voucher.lostVoucherUntilSeconds === null) return undefined;
    const text = `no redemption vault answers at ${known.vault}, which the ledger names`;
    const evidence = { outcome: 'live', doubt: { kind: 'unconfirmed', text } } as const;
    return { evidence, place: this.placeOf(known) };
  }

  /**
   * Asks for the status at a final block, which is enough where the status is none. Any other status contradicts the
   * missing events, and then the vault's whole history is searched.
   */
  private async search(
    reader: VaultReader,
    known: KnownVault,
    { lostVoucherUntilSeconds, ...terms }: LostVoucher,
  ): Promise<UnplannedEvidence> {
    const observe = async (deadlineSeconds: number, fromBlock: bigint) => {
      const watched = { ...terms, deadlineSeconds, fromBlock };
      const [evidence = { outcome: 'live' as const }] = await reader.observe([watched]);
      return { evidence, place: this.placeOf(known) };
    };
    const first = await observe(lostVoucherUntilSeconds ?? 0, AFTER_ALL_BLOCKS);
    return isContradiction(first) ? observe(ANY_DEADLINE, known.startBlock) : first;
  }

  private placeOf({ vault, startBlock: fromBlock }: KnownVault) {
    return { chainId: this.settings.chainId, vault, fromBlock };
  }

  private async knownVaults(): Promise<readonly KnownVault[]> {
    const { chainId, vaultContract: vault, vaultStartBlock: startBlock } = this.settings;
    const nowMs = this.clock.nowMs();
    const ageMs = this.known ? nowMs - this.known.atMs : Infinity;
    if (this.known && ageMs >= 0 && ageMs < VAULT_LIST_TTL_MS) return this.known.vaults;
    const named = await this.vaults.of(chainId);
    const others = named.filter((one) => one.vault !== vault);
    this.known = { vaults: [{ vault, startBlock }, ...others], atMs: nowMs };
    return this.known.vaults;
  }

  private currentVault(): VaultReader {
    return this.keep(this.settings.vaultContract, this.settings.tokenContract);
  }

  /**
   * Reads the token from the vault itself, since an older vault may pay another token.
   * @returns undefined where there is no vault
   */
  private async readerOf(vault: Address): Promise<VaultReader | undefined> {
    const { vaultPlace: place, tokenContract: token } = this.settings;
    if (vault === place.vault) return this.currentVault();
    const known = this.readers.get(vault);
    if (known) return known;
    const question = { place: { ...place, vault }, token, signer: vault };
    const facts = await readVaultFacts(this.pool, question);
    return facts.hasOurVoucherDomain && facts.token ? this.keep(vault, facts.token) : undefined;
  }

  private keep(vault: Address, token: Address): VaultReader {
    const { finality, payoutExpiryMarginSeconds: marginSeconds } = this.settings;
    const reader =
      this.readers.get(vault) ??
      new VaultReader(this.pool, { vault, token, finality, clock: this.clock, marginSeconds });
    this.readers.set(vault, reader);
    return reader;
  }
}

function isContradiction(seen: UnplannedEvidence | undefined): boolean {
  const { evidence } = seen ?? {};
  return evidence?.outcome === 'live' && evidence.doubt?.kind === 'contradiction';
}
