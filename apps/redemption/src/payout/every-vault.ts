/**
 * The vaults that may pay a redemption whose voucher the ledger does not have: today's, and those that it replaced. One that paid is
 * enough; that nothing is paid any more must be said by all of them.
 */
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { readVaultFacts, RpcPool, VaultReader } from '#libs/chain';
import { type KnownVault, KnownVaults } from '#libs/db';
import { type Address, type UuidV7 } from '#libs/domain';
import { CLOCK, type Clock } from '#libs/platform';
import { RedemptionSettings } from '../redemption.env.js';
import { type UnplannedEvidence } from './payout.js';

export interface VoucherOfOld {
  /** See Redemption. */
  readonly lostVoucherUntilSeconds: number | null;
  readonly redemptionId: UuidV7;
  readonly recipient: Address;
  readonly amount: bigint;
}

/** Of a voucher that the ledger does not remember: no claim is too late for it. */
const ANY_DEADLINE = Number.MAX_SAFE_INTEGER;
/** No events are searched: the status alone is asked for. */
const NO_EVENTS = 2n ** 64n;
const VAULTS = 16;
/** What a lost voucher can be of was known before this service started, which is when an operator may name more. */
const FRESH_MS = 600_000;

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
  async observe(voucher: VoucherOfOld): Promise<UnplannedEvidence> {
    const { vaultContract: vault, vaultStartBlock: startBlock } = this.settings;
    const own = await this.search(this.today(), { vault, startBlock }, voucher);
    return this.unlessElsewhere(own, voucher);
  }

  /**
   * What one vault says, where no other one says more.
   * @throws LowmarkError where a vault or the ledger cannot be asked now
   */
  async unlessElsewhere(
    first: UnplannedEvidence,
    voucher: VoucherOfOld,
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
    voucher: VoucherOfOld,
  ): Promise<UnplannedEvidence | undefined> {
    const reader = await this.readerOf(known.vault);
    if (reader) return this.search(reader, known, voucher);
    // Where nothing was lost it is only one question more, and no wrong address may keep points for ever.
    if (voucher.lostVoucherUntilSeconds === null) return undefined;
    const text = `no redemption vault answers at ${known.vault}, which the ledger names`;
    const evidence = { outcome: 'live', doubt: { kind: 'unconfirmed', text } } as const;
    return { evidence, place: this.placeOf(known) };
  }

  /** The status at a final block is enough where it is none: only for what it says otherwise the whole history is searched. */
  private async search(
    reader: VaultReader,
    known: KnownVault,
    { lostVoucherUntilSeconds, ...terms }: VoucherOfOld,
  ): Promise<UnplannedEvidence> {
    const observe = async (deadlineSeconds: number, fromBlock: bigint) => {
      const watched = { ...terms, deadlineSeconds, fromBlock };
      const [evidence = { outcome: 'live' as const }] = await reader.observe([watched]);
      return { evidence, place: this.placeOf(known) };
    };
    const first = await observe(lostVoucherUntilSeconds ?? 0, NO_EVENTS);
    return isContradiction(first) ? observe(ANY_DEADLINE, known.startBlock) : first;
  }

  private placeOf({ vault, startBlock: fromBlock }: KnownVault) {
    return { chainId: this.settings.chainId, vault, fromBlock };
  }

  private async knownVaults(): Promise<readonly KnownVault[]> {
    const { chainId, vaultContract: vault, vaultStartBlock: startBlock } = this.settings;
    const nowMs = this.clock.nowMs();
    const ageMs = this.known ? nowMs - this.known.atMs : Infinity;
    if (this.known && ageMs >= 0 && ageMs < FRESH_MS) return this.known.vaults;
    const named = await this.vaults.of(chainId);
    const others = named.filter((one) => one.vault !== vault);
    this.known = { vaults: [{ vault, startBlock }, ...others], atMs: nowMs };
    return this.known.vaults;
  }

  private today(): VaultReader {
    return this.keep(this.settings.vaultContract, this.settings.tokenContract);
  }

  /** By the token that it pays itself, which may have been another one than today's. @returns undefined where there is no vault */
  private async readerOf(vault: Address): Promise<VaultReader | undefined> {
    const { vaultPlace: place, tokenContract: token } = this.settings;
    if (vault === place.vault) return this.today();
    const known = this.readers.get(vault);
    if (known) return known;
    const question = { place: { ...place, vault }, token, signer: vault };
    const facts = await readVaultFacts(this.pool, question);
    return facts.takesOurVouchers && facts.token ? this.keep(vault, facts.token) : undefined;
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
