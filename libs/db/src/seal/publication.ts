import { type Address, type BlockHash, type NodeHash } from '#libs/domain';
import { hexOf, type Nullable, type RowOf } from '../connection/rows.js';

export interface RegistryPlace {
  readonly chainId: number;
  readonly registry: Address;
}

/** The registry as parameters of a statement. */
export interface PlaceParameters {
  readonly chainId: number;
  /** Hex digits without `0x`. */
  readonly registry: string;
}

/** `p` is the alias of the publication. */
export const AT_PLACE = `p.chain_id = :chainId AND p.registry = decode(:registry, 'hex')`;

export function placeParameters({ chainId, registry }: RegistryPlace): PlaceParameters {
  return { chainId, registry: hexOf(registry) };
}

export type PublicationStatus = 'due' | 'sent' | 'mined' | 'final' | 'refused';

/** What a registry is to hold for a day. */
export interface PublicationContent {
  /** Days since 1970-01-01 UTC. */
  readonly day: number;
  /** Of the sealed day. */
  readonly revision: number;
  readonly root: NodeHash;
}

/** The transaction that was signed last for a publication, under its nonce. */
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
  /** Account and nonce of the signed transaction; undefined where nothing is signed. */
  readonly sender: { readonly account: Address; readonly nonce: number } | undefined;
  readonly transaction: StoredTransaction | undefined;
  readonly dueAt: Date;
  readonly settledAt: Date | null;
  /** Why the publication is refused. */
  readonly reason: string | null;
  readonly acknowledgedAt: Date | null;
}

/** The columns of a PublicationRow, with `p` as alias of the publication and `t` of its newest transaction. */
export const PUBLICATION_COLUMNS = `p.day, p.revision, '0x' || encode(p.root, 'hex') AS root,
  p.stake_set AS "stakeSet", p.status, '0x' || encode(p.account, 'hex') AS account, p.nonce, p.due_at AS "dueAt",
  p.settled_at AS "settledAt", p.reason, p.acknowledged_at AS "acknowledgedAt", '0x' || encode(t.hash, 'hex') AS hash,
  '0x' || encode(t.root, 'hex') AS "sentRoot", t.gas_price AS "gasPrice", t.gas, t.signed_at AS "signedAt"`;

/** Among the transactions of a nonce, the one with the highest price is the newest. */
export const NEWEST_TRANSACTION = `LEFT JOIN LATERAL (
    SELECT * FROM redemption.registry_transaction x
    WHERE (x.chain_id, x.registry, x.day, x.account, x.nonce) = (p.chain_id, p.registry, p.day, p.account, p.nonce)
    ORDER BY x.gas_price DESC, x.signed_at DESC LIMIT 1) AS t ON true`;

export type PublicationRow = Omit<Publication, 'sender' | 'transaction'> &
  Nullable<
    RowOf<Omit<StoredTransaction, 'root'>> & { sentRoot: NodeHash; account: Address; nonce: string }
  >;

export function publicationOf(row: PublicationRow): Publication {
  const { account, nonce, hash, sentRoot: root, gasPrice, gas, signedAt, ...publication } = row;
  const isSigned =
    hash !== null && root !== null && gasPrice !== null && gas !== null && signedAt !== null;
  return {
    ...publication,
    sender: account === null || nonce === null ? undefined : { account, nonce: Number(nonce) },
    transaction: isSigned
      ? { hash, root, signedAt, gasPrice: BigInt(gasPrice), gas: BigInt(gas) }
      : undefined,
  };
}
