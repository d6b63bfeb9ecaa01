import { type Address, type BlockHash, type NodeHash } from '#libs/domain';
import { addressOf, hashOf, hexOf, nodeOf } from '../rows.js';

export interface RegistryPlace {
  readonly chainId: number;
  readonly registry: Address;
}

/** The registry among the parameters of a statement. */
export interface PlaceParameters {
  readonly chainId: number;
  /** Hex digits. */
  readonly registry: string;
}

/** `p` is the publication. */
export const AT_PLACE = `p.chain_id = :chainId AND p.registry = decode(:registry, 'hex')`;

export function placeParameters({ chainId, registry }: RegistryPlace): PlaceParameters {
  return { chainId, registry: hexOf(registry) };
}

export type PublicationStatus = 'due' | 'sent' | 'mined' | 'final' | 'refused';

/** What a registry is to hold of a day, or of the days of a period. */
export interface PublicationContent {
  readonly kind: 'day' | 'period';
  /** Days since 1970-01-01 UTC. */
  readonly firstDay: number;
  readonly lastDay: number;
  /** Of the sealed days, from the first one on. */
  readonly revisions: readonly number[];
  readonly root: NodeHash;
}

/** What was signed for it last, under its nonce. */
export interface StoredTransaction {
  readonly hash: BlockHash;
  readonly root: NodeHash;
  /** Wei per unit of gas. */
  readonly gasPrice: bigint;
  readonly gas: bigint;
  readonly signedAt: Date;
}

export interface Publication extends PublicationContent {
  readonly stakeSet: string;
  readonly status: PublicationStatus;
  /** Who signed, and under which nonce; undefined where nothing is signed. */
  readonly sender: { readonly account: Address; readonly nonce: number } | undefined;
  readonly transaction: StoredTransaction | undefined;
  readonly dueAt: Date;
  readonly settledAt: Date | null;
  /** Why it is refused. */
  readonly reason: string | null;
  readonly acknowledgedAt: Date | null;
}

/** The columns of a PublicationRow; `p` is the publication, `t` its newest transaction. */
export const PUBLICATION_COLUMNS = `p.kind, p.first_day, p.last_day, p.revisions, encode(p.root, 'hex') AS root, p.stake_set, p.status,
  encode(p.account, 'hex') AS account, p.nonce, p.due_at, p.settled_at, p.reason, p.acknowledged_at,
  encode(t.hash, 'hex') AS hash, encode(t.root, 'hex') AS sent_root, t.gas_price, t.gas, t.signed_at`;

/** The transaction with the highest price is the newest one of its nonce. */
export const NEWEST_TRANSACTION = `LEFT JOIN LATERAL (
    SELECT * FROM redemption.registry_transaction x
    WHERE (x.chain_id, x.registry, x.first_day, x.account, x.nonce) = (p.chain_id, p.registry, p.first_day, p.account, p.nonce)
    ORDER BY x.gas_price DESC, x.signed_at DESC LIMIT 1) AS t ON true`;

export interface PublicationRow {
  kind: Publication['kind'];
  first_day: number;
  last_day: number;
  revisions: number[];
  root: string;
  stake_set: string;
  status: PublicationStatus;
  account: string | null;
  nonce: string | null;
  due_at: Date;
  settled_at: Date | null;
  reason: string | null;
  acknowledged_at: Date | null;
  hash: string | null;
  sent_root: string | null;
  gas_price: string | null;
  gas: string | null;
  signed_at: Date | null;
}

export function publicationOf(row: PublicationRow): Publication {
  const { account, nonce } = row;
  return {
    kind: row.kind,
    firstDay: row.first_day,
    lastDay: row.last_day,
    revisions: row.revisions,
    root: nodeOf(row.root),
    stakeSet: row.stake_set,
    status: row.status,
    sender:
      account === null || nonce === null
        ? undefined
        : { account: addressOf(account), nonce: Number(nonce) },
    transaction: transactionOf(row),
    dueAt: row.due_at,
    settledAt: row.settled_at,
    reason: row.reason,
    acknowledgedAt: row.acknowledged_at,
  };
}

function transactionOf(row: PublicationRow): StoredTransaction | undefined {
  const { hash, sent_root: root, gas_price: gasPrice, gas, signed_at: signedAt } = row;
  if (hash === null || root === null || gasPrice === null || gas === null || signedAt === null) {
    return undefined;
  }
  return {
    ...{ hash: hashOf(hash), root: nodeOf(root), signedAt },
    ...{ gasPrice: BigInt(gasPrice), gas: BigInt(gas) },
  };
}
