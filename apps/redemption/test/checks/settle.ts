/**
 * What the partner's books, the chain and the ledger say about all redemptions in the end: each redemption as its state
 * demands (the invariants of docs/redemption.md), and the sums of each wallet and of the vault to the last unit. Not
 * what the service believes.
 */
import { redemptionIdOf, RpcPool, VaultReader } from '#libs/chain';
import { type Address, type RedemptionState } from '#libs/domain';
import { systemClock } from '#libs/platform';
import { type VaultBench } from '#libs/testing/vault';
import { type FailingPartner } from '../partner/failing-partner.js';
import { type World } from '../world/world.js';

/** Tokens that deployLocalVault gives a vault, in the smallest unit. */
const VAULT_FUNDS = 10n ** 24n;

interface Row {
  readonly id: string;
  readonly state: RedemptionState;
  readonly wallet: Address;
  readonly points: number;
  readonly token_amount: string;
  readonly transaction: string | null;
  readonly deadline_seconds: number | null;
  readonly times: Readonly<Record<string, number>>;
  readonly claim_hash: string | null;
  readonly plans: number;
  readonly calls: readonly string[];
  readonly confirmation: string | null;
  readonly payload: string | null;
}

const ROWS = {
  text: `SELECT r.id, r.state, '0x' || encode(r.wallet, 'hex') AS wallet, r.points::float8 AS points,
      r.token_amount::text, r.partner_transaction_id AS transaction, r.plan_deadline_seconds::float8 AS deadline_seconds,
      jsonb_strip_nulls(jsonb_build_object('claimed', extract(epoch FROM r.claimed_at), 'reverted',
        extract(epoch FROM r.reverted_at), 'failed', extract(epoch FROM r.failed_at))) AS times,
      r.paid_evidence ->> 'transactionHash' AS claim_hash,
      (SELECT count(*)::int FROM redemption.transition t
        WHERE t.redemption_id = r.id AND t.event = 'plan-committed') AS plans,
      ARRAY(SELECT request_id::text FROM redemption.partner_call c WHERE c.redemption_id = r.id) AS calls,
      c.state AS confirmation, c.payload
    FROM redemption.redemption r LEFT JOIN redemption.confirmation c ON c.redemption_id = r.id ORDER BY r.id`,
};

interface Vault {
  readonly finalSeconds: number;
  /** By redemption id, or by vault id where it is of no redemption: each final claim and cancellation. */
  readonly claims: ReadonlyMap<string, readonly string[]>;
  readonly cancelled: ReadonlySet<string>;
  readonly claimSeconds: ReadonlyMap<string, number>;
}

export interface Settled {
  readonly ends: readonly { readonly id: string; readonly state: RedemptionState }[];
  readonly faults: readonly string[];
}

/** @param points of each wallet before the first redemption */
export async function settle(
  { database, bench, partner }: World,
  wallets: readonly Address[],
  points: number,
): Promise<Settled> {
  const vault = await finalVault(bench);
  const rows = await database.query<Row>(ROWS);
  const faults = [
    ...partner.oddities,
    ...(await sumFaults(rows, { bench, partner, wallets, points })),
  ];
  const ours = new Set<string>(rows.map(({ id }) => id));
  for (const id of [...vault.claims.keys(), ...partner.confirmations.keys()]) {
    if (!ours.has(id)) faults.push(`${id} is no redemption`);
  }
  for (const row of rows) {
    const [is, must] = [factsOf(row, vault, partner), mustBe(row, vault)];
    for (const [fact, text] of Object.entries(must)) {
      if (is[fact] !== text)
        faults.push(`${row.id}, ${row.state}: ${fact} ${is[fact] ?? ''}, not ${text}`);
    }
  }
  return { ends: rows.map(({ id, state }) => ({ id, state })), faults };
}

/** All events of the vault up to the final block. */
async function finalVault({ chain, vault }: VaultBench): Promise<Vault> {
  const pool = new RpcPool({ urls: [chain.rpc.url], clock: systemClock });
  const { token } = chain.contracts;
  const reader = new VaultReader(pool, { vault, token, finality: 'finalized' });
  const head = await reader.finalised();
  const claims = new Map<string, string[]>();
  const claimSeconds = new Map<string, number>();
  const cancelled = new Set<string>();
  for (const event of await reader.events({ from: 0n, head })) {
    const id = redemptionIdOf(event.vaultId) ?? event.vaultId;
    if (event.kind === 'cancelled') {
      cancelled.add(id);
      continue;
    }
    const { recipient, amount, transactionHash, block } = event;
    claims.set(id, [...(claims.get(id) ?? []), `${amount} to ${recipient} in ${transactionHash}`]);
    claimSeconds.set(id, block.timestampSeconds);
  }
  return { finalSeconds: head.timestampSeconds, claims, cancelled, claimSeconds };
}

type Facts = Readonly<Record<string, string>>;

/** The facts of a redemption, by the invariant that they are held to. */
function factsOf(row: Row, vault: Vault, { books, confirmations, calls }: FailingPartner): Facts {
  const { id, plans, times, confirmation, payload, deadline_seconds: deadline } = row;
  const deductions = books
    .of(id)
    .map(({ transactionId, points, revertId }) =>
      revertId === undefined ? `${points} points stand as ${transactionId}` : 'reverted',
    );
  const standing = deductions.filter((one) => one !== 'reverted');
  const isOver = vault.cancelled.has(id) || (deadline !== null && vault.finalSeconds > deadline);
  const received = confirmations.get(id) ?? [];
  const told = payload === null ? 'none' : (JSON.parse(payload) as { status: string }).status;
  return {
    'points (I1 to I6)': deductions.join(', '),
    'points that stand (I4)': standing.join(', '),
    'claims (I1, I2, I3, I5)': (vault.claims.get(id) ?? []).join(', '),
    'the voucher (I3, I4)': deadline === null ? 'was never made' : isOver ? 'is over' : 'is open',
    'confirmation (I8)': `${told} ${confirmation ?? ''}`.trim(),
    'confirmations received (I8)': [...new Set(received)].join(),
    'final times (I9)': Object.keys(times).join(),
    'claimed at': String(times['claimed'] ?? ''),
    'plans (I11)': String(plans),
    'calls without a row (rule A)': (calls.get(id) ?? [])
      .filter((one) => !row.calls.includes(one))
      .join(),
  };
}

/** What the facts must be in a final state; no state but these is an end (I7). */
function mustBe(row: Row, vault: Vault): Facts {
  const { id, state, wallet, points, transaction, payload, deadline_seconds: deadline } = row;
  const always = { 'final times (I9)': state, 'calls without a row (rule A)': '' };
  const plans = { 'plans (I11)': deadline === null ? '0' : '1' };
  const told = {
    'confirmation (I8)': `${state} delivered`,
    'confirmations received (I8)': payload ?? '',
  };
  const unpaid = { ...always, ...plans, 'claims (I1, I2, I3, I5)': '', 'claimed at': '' };
  if (state === 'claimed') {
    return {
      ...{ ...always, ...plans, ...told },
      'points (I1 to I6)': `${points} points stand as ${String(transaction)}`,
      'claims (I1, I2, I3, I5)': `${row.token_amount} to ${wallet} in ${String(row.claim_hash)}`,
      'claimed at': String(vault.claimSeconds.get(id)),
    };
  }
  if (state === 'reverted') {
    const voucher = deadline === null ? 'was never made' : 'is over';
    return { ...unpaid, ...told, 'points (I1 to I6)': 'reverted', 'the voucher (I3, I4)': voucher };
  }
  if (state === 'failed') {
    return {
      ...{ ...unpaid, 'points that stand (I4)': '', 'the voucher (I3, I4)': 'was never made' },
      ...{ 'confirmation (I8)': 'none', 'confirmations received (I8)': '' },
    };
  }
  return { 'its end (I7)': 'claimed, reverted or failed' };
}

interface Sides {
  readonly bench: VaultBench;
  readonly partner: FailingPartner;
  readonly wallets: readonly Address[];
  readonly points: number;
}

/** Compares what the claimed rows took and paid with the books and the chain, and finds ids that are used twice. */
async function sumFaults(
  rows: readonly Row[],
  { bench, partner, wallets, points }: Sides,
): Promise<string[]> {
  const faults: string[] = [];
  const claimed = rows.filter(({ state }) => state === 'claimed');
  const paidTo = (some: readonly Row[]): bigint =>
    some.reduce((sum, row) => sum + BigInt(row.token_amount), 0n);
  const compare = (what: string, is: unknown, must: unknown): void => {
    if (is !== must) faults.push(`${what}: ${String(is)}, not ${String(must)}`);
  };
  for (const wallet of wallets) {
    const own = claimed.filter((row) => row.wallet === wallet);
    compare(`tokens of ${wallet}`, await bench.tokens(wallet), paidTo(own));
    const taken = own.reduce((sum, row) => sum + row.points, 0);
    compare(`points of ${wallet}`, partner.books.points.get(wallet), points - taken);
  }
  compare('tokens of the vault', await bench.tokens(bench.vault), VAULT_FUNDS - paidTo(claimed));
  const transactions = rows.flatMap(({ transaction }) => transaction ?? []);
  compare('transaction ids (I11)', new Set(transactions).size, transactions.length);
  return faults;
}
