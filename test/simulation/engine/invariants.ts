/**
 * What must hold after each step, and at the end (docs/redemption.md, I1 to I11 and the rules): by the partner's books,
 * the chain and the ledger, not by what the service believes.
 */
import { vaultIdOf } from '#libs/chain';
import { isFinal, type Redemption, type UuidV7 } from '#libs/domain';
import { DeviationError } from '../kernel/index.js';
import { dayOf, type LedgerRow } from './ledger/memory-ledger.js';
import { type SimulatedPartner } from './partner.js';
import { type WorldState } from './world-state.js';

function deviate(kind: string, id: string, detail: string): never {
  throw new DeviationError(kind, `${detail} (redemption ${id})`);
}

export class Invariants {
  /** Final rows as they were when first seen; forgotten where the ledger goes back. */
  private firstFinal = new Map<UuidV7, LedgerRow>();
  private lastRows = new Map<UuidV7, LedgerRow>();
  private lastBlock: unknown;
  /** All that the checks look at, as of the last one. */
  private seen: readonly unknown[] = [];
  private hasGoneBack = false;

  constructor(private readonly world: WorldState) {}

  /** The ledger went back to a backup: its rows begin again from there. */
  wentBack(): void {
    this.firstFinal = new Map();
    this.lastRows = new Map();
    this.seen = [];
    this.hasGoneBack = true;
  }

  check(): void {
    const { ledger, chain, partners } = this.world;
    const { redemptions } = ledger.tables;
    if (!this.hasChanged()) return;
    for (const [id, row] of redemptions) {
      this.checkMoney(row.redemption);
      if (this.lastRows.get(id) === row && this.lastBlock === chain.latest) continue;
      this.checkRow(row);
      this.lastRows.set(id, row);
    }
    this.lastBlock = chain.latest;
    for (const partner of partners.values()) this.checkBooks(partner);
    // What a restored ledger lacks was not reserved in it.
    if (!this.hasGoneBack) this.checkBudgets();
  }

  /** Rows and blocks are values that a change replaces. */
  private hasChanged(): boolean {
    const { ledger, chain, partners } = this.world;
    const { redemptions, deliveries } = ledger.tables;
    const seen: unknown[] = [chain.latest];
    for (const { changes } of partners.values()) seen.push(changes);
    for (const row of redemptions.values()) seen.push(row);
    for (const row of deliveries.values()) seen.push(row);
    const before = this.seen;
    this.seen = seen;
    return seen.length !== before.length || seen.some((one, place) => one !== before[place]);
  }

  /** Points and tokens, at each moment. */
  private checkMoney({ id, state, partner: partnerId, points, wallet }: Redemption): void {
    const { chain, partners } = this.world;
    const partner = partners.get(partnerId);
    const deductions = partner?.books.of(id) ?? [];
    if (this.world.forged.has(id) && deductions.length > 0)
      deviate('a forged row deducts', id, wallet);
    if (deductions.length > 1) deviate('I6 more than one deduction', id, `${deductions.length}`);
    const [deduction] = deductions;
    if (state === 'failed' && deduction !== undefined && deduction.revertId === undefined) {
      deviate('I4 failed, and a deduction stands', id, deduction.transactionId);
    }
    const entries = chain.entries().filter(({ vaultId }) => vaultId === vaultIdOf(id));
    const claims = entries.filter(({ kind }) => kind === 'claimed');
    if (claims.length > 1) deviate('paid twice', id, `${claims.length} claims`);
    const [claim] = claims;
    if (claim === undefined) return;
    if (deduction === undefined) deviate('I5 paid for no points', id, 'nothing was deducted');
    if (deduction.revertId !== undefined) {
      deviate('I1 points restored and tokens claimed', id, `${deduction.revertId} is a revert`);
    }
    if (BigInt(deduction.points) !== points) deviate('I5 paid for other points', id, '');
    if (claim.recipient !== wallet) deviate('paid to another', id, claim.recipient);
  }

  private checkRow(row: LedgerRow): void {
    const { chain, partners } = this.world;
    const { redemption, place } = row;
    const { id, state, partner: partnerId } = redemption;
    const partner = partners.get(partnerId);
    if (partner === undefined) return;
    const standing = partner.books.standing(id);
    const final = chain.final;
    const vaultId = vaultIdOf(id);
    const isPaid = chain
      .entries(final.number)
      .some((one) => one.vaultId === vaultId && one.kind === 'claimed');
    if (this.world.forged.has(id) && place !== null) deviate('a forged row is planned', id, state);
    if (state === 'claimed') {
      if (!isPaid) deviate('I2 claimed without a final claim', id, `final block ${final.number}`);
      if (standing?.transactionId !== redemption.partnerTransactionId) {
        deviate('I2 claimed without its deduction', id, String(standing?.transactionId));
      }
    }
    if (state === 'reverted') {
      if (standing !== undefined) deviate('I3 reverted, and the deduction stands', id, '');
      if (partner.books.of(id).length === 0) deviate('I3 reverted, and never deducted', id, '');
      this.requireDead(redemption, 'I3 reverted, and tokens can move');
    }
    if (state === 'failed') {
      if (place !== null) deviate('I4 failed, and a payout was authorised', id, '');
      if (isPaid) deviate('I4 failed, and tokens were paid', id, '');
    }
    if (state === 'authorised' && redemption.partnerTransactionId === null) {
      deviate('I5 authorised without a deduction', id, '');
    }
    this.checkFinal(id, row);
    this.checkTransitions(redemption);
    this.checkConfirmation(row);
  }

  /** No voucher of the redemption can be claimed any more. */
  private requireDead({ id, plan, lostVoucherUntilSeconds }: Redemption, kind: string): void {
    const { chain } = this.world;
    const status = chain.statusOf(vaultIdOf(id), chain.final.number);
    if (status === 'cancelled') return;
    const untilSeconds = Math.max(plan?.deadlineSeconds ?? 0, lostVoucherUntilSeconds ?? 0);
    if (status === 'none' && chain.final.seconds > untilSeconds) return;
    deviate(kind, id, `the vault says ${status} in final block ${chain.final.number}`);
  }

  private checkFinal(id: UuidV7, row: LedgerRow): void {
    if (!isFinal(row.redemption.state)) return;
    const first = this.firstFinal.get(id);
    if (first === undefined) this.firstFinal.set(id, row);
    else if (first !== row) deviate('I10 a final row has changed', id, row.redemption.state);
    const { claimedAtMs, revertedAtMs, failedAtMs, state } = row.redemption;
    const times = { claimed: claimedAtMs, reverted: revertedAtMs, failed: failedAtMs };
    const set = Object.values(times).filter((time) => time !== null).length;
    if (set !== 1 || !(state in times) || times[state] === null) {
      deviate('I9 claimedAt xor revertedAt', id, `${set} final times`);
    }
  }

  private checkTransitions({ id, version }: Redemption): void {
    const transitions = this.world.ledger.tables.transitions.get(id) ?? [];
    if (transitions.length !== version) {
      deviate('a version without its transition', id, `${transitions.length} of ${version}`);
    }
    const plans = transitions.filter(({ event }) => event === 'plan-committed').length;
    if (plans > 1) deviate('I11 more than one plan', id, `${plans}`);
  }

  private checkConfirmation({ redemption }: LedgerRow): void {
    const { ledger, partners } = this.world;
    const { id, state, partner: partnerId } = redemption;
    const delivery = ledger.tables.deliveries.get(id);
    const isOwed =
      (state === 'claimed' || state === 'reverted') && partners.get(partnerId)?.plan.confirms;
    if (isOwed === true && delivery === undefined) deviate('I8 no confirmation is owed', id, state);
    if (isOwed !== true && delivery !== undefined) deviate('I8 a confirmation is owed', id, state);
  }

  private checkBooks({ books, plan, confirmations }: SimulatedPartner): void {
    const { ledger } = this.world;
    if (books.bystanderRobbed) deviate("another player's points moved", 'none', plan.name);
    const ids = new Map<string, UuidV7>();
    for (const { id, partner, partnerTransactionId } of ledger.redemptions()) {
      if (partnerTransactionId === null) continue;
      const key = `${partner} ${partnerTransactionId}`;
      const other = ids.get(key);
      if (other !== undefined) deviate('I11 a transaction id twice', id, `${key} is of ${other}`);
      ids.set(key, id);
    }
    for (const [id, bodies] of confirmations) {
      const owed = ledger.tables.deliveries.get(id as UuidV7);
      if (this.hasGoneBack) continue;
      if (owed === undefined)
        deviate('I8 a confirmation that is not owed', id, String(bodies.length));
      else if (bodies.some((body) => body !== owed.payload)) deviate('I8 another payload', id, '');
    }
  }

  private checkBudgets(): void {
    const { ledger, chain, plan } = this.world;
    const { partnerDailyTokens, walletDailyTokens } = plan;
    const sums = new Map<string, bigint>();
    const add = (key: string, amount: bigint, most: bigint): void => {
      const sum = (sums.get(key) ?? 0n) + amount;
      sums.set(key, sum);
      if (sum > most) deviate('beyond a budget', 'none', `${key}: ${sum} of ${most}`);
    };
    let promised = 0n;
    for (const one of ledger.redemptions()) {
      const { state, partner, wallet, tokenAmount, initialAtMs, authorisedAtMs, id } = one;
      // A forged row only takes room from others.
      if (this.world.forged.has(id)) continue;
      const day = dayOf(initialAtMs);
      const isBack = state === 'created' || state === 'failed' || state === 'reverted';
      if (!isBack) add(`partner ${partner} ${day}`, tokenAmount, partnerDailyTokens);
      if (!isBack || authorisedAtMs !== null) {
        add(`wallet ${wallet} ${day}`, tokenAmount, walletDailyTokens);
      }
      const isPayable = ['deducting', 'deducted', 'authorised'].includes(state);
      if (isPayable && chain.statusOf(vaultIdOf(id)) === 'none') promised += tokenAmount;
    }
    if (promised > chain.balance()) {
      deviate('beyond what the vault holds', 'none', `${promised} of ${chain.balance()}`);
    }
  }
}
