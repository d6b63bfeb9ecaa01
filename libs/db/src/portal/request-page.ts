import { named } from '../connection/named.js';
import { type PortalQuery } from './portal-database.js';

/** A request of the partner and its answer, as `partners.request` keeps them. */
export interface AnsweredRequest {
  readonly id: bigint;
  readonly credentialId: string;
  /** The beginning of the key; null where the credential is gone. */
  readonly keyPrefix: string | null;
  readonly at: Date;
  readonly method: string;
  /** With the query, a character for each byte; the beginning. */
  readonly path: string;
  /** Of all of it. */
  readonly pathLength: number;
  readonly status: number;
  readonly code: string | null;
  /** The beginning. */
  readonly body: Buffer;
  /** Of all of it. */
  readonly bodyBytes: number;
  /** Hex digits. */
  readonly signature: string;
  readonly durationUs: number;
}

export interface RequestPage {
  /** The smallest id of the page before. */
  readonly before?: bigint | undefined;
  readonly limit: number;
  /** Answers of 400 and above only. */
  readonly failedOnly?: boolean;
}

const PAGE = named<{ before: string | null; limit: number; from: number }>(
  'portal_requests',
  `SELECT r.id, r.credential_id AS "credentialId", c.key_prefix AS "keyPrefix", r.at, r.method, r.path, r.path_length AS "pathLength",
      r.status, r.code, r.body, r.body_bytes AS "bodyBytes", encode(r.signature, 'hex') AS signature, r.duration_us AS "durationUs"
    FROM portal.request r LEFT JOIN portal.credential c ON c.id = r.credential_id
    WHERE (:before::bigint IS NULL OR r.id < :before) AND r.status >= :from ORDER BY r.id DESC LIMIT :limit`,
);

/** Newest first. @param query of `PortalDatabase.asPartner` */
export async function readRequests(
  query: PortalQuery,
  { before, limit, failedOnly = false }: RequestPage,
): Promise<AnsweredRequest[]> {
  const page = { before: before?.toString() ?? null, limit, from: failedOnly ? 400 : 0 };
  const rows = await query<Omit<AnsweredRequest, 'id'> & { id: string }>(PAGE(page));
  return rows.map((row) => ({ ...row, id: BigInt(row.id) }));
}
