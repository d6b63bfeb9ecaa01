/** The log of a partner's requests, the answers that were signed with a wrong figure, and requests and calls by hour. */
import { named, type OrNull, orNull } from '../connection/named.js';
import { type CorrectedFigure } from '../index-store/correction-store.js';
import { type CallsOfHour, FAILED_CALLS } from '../redemption/redemption-log.js';
import { type PortalQuery } from './portal-database.js';

/** A request of the partner and its answer, as `partners.request` stores them. */
export interface AnsweredRequest {
  readonly id: bigint;
  /** X-Request-Id. */
  readonly requestId: string;
  readonly credentialId: string;
  /** Beginning of the key; null where the credential does not exist any more. */
  readonly keyPrefix: string | null;
  readonly at: Date;
  readonly method: string;
  /** Beginning of the path with its query, one character for each byte. */
  readonly path: string;
  /** Length of the whole path. */
  readonly pathLength: number;
  readonly status: number;
  readonly code: string | null;
  /** Beginning of the answer's body. */
  readonly body: Buffer;
  /** Length of the whole body in bytes. */
  readonly bodyBytes: number;
  /** Hex digits. */
  readonly signature: string;
  readonly durationUs: number;
}

/** Absent fields do not restrict the result. */
export interface RequestPage {
  /** The smallest id of the previous page. */
  readonly before?: bigint | undefined;
  readonly limit: number;
  /** Only answers with a status of 400 and above. */
  readonly failedOnly?: boolean | undefined;
  /** Only answers with this status. */
  readonly status?: number | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  /** In lower case. Only requests that name this wallet. */
  readonly wallet?: string | undefined;
  /** Only requests with this X-Request-Id. */
  readonly requestId?: string | undefined;
}

const COLUMNS = `r.id, r.request_id AS "requestId", r.credential_id AS "credentialId", c.key_prefix AS "keyPrefix", r.at, r.method, r.path,
      r.path_length AS "pathLength", r.status, r.code, r.body, r.body_bytes AS "bodyBytes", encode(r.signature, 'hex') AS signature,
      r.duration_us AS "durationUs"
    FROM portal.request r LEFT JOIN portal.credential c ON c.id = r.credential_id`;

type Page = Omit<RequestPage, 'failedOnly' | 'status'> & {
  readonly from: number;
  readonly to: number;
};

const PAGE = named<OrNull<Page>>(
  'portal_requests',
  `SELECT ${COLUMNS}
    WHERE (:before::bigint IS NULL OR r.id < :before) AND r.status BETWEEN :from AND :to
      AND (:since::timestamptz IS NULL OR r.at >= :since) AND (:until::timestamptz IS NULL OR r.at < :until)
      AND (:requestId::text IS NULL OR r.request_id = :requestId)
      AND (:wallet::text IS NULL OR position(:wallet IN lower(r.path)) > 0)
    ORDER BY r.id DESC LIMIT :limit`,
);

const ONE = named<{ id: string }>('portal_request', `SELECT ${COLUMNS} WHERE r.id = :id`);

type Row = Omit<AnsweredRequest, 'id'> & { id: string };
const LAST_STATUS = 999;

/** Newest first. */
export async function readRequests(
  query: PortalQuery,
  { before, limit, failedOnly = false, status, since, until, wallet, requestId }: RequestPage,
): Promise<AnsweredRequest[]> {
  const rows = await query<Row>(
    PAGE({
      ...orNull({ before, limit, since, until, wallet, requestId }),
      ...{ from: status ?? (failedOnly ? 400 : 0), to: status ?? LAST_STATUS },
    }),
  );
  return rows.map(requestOf);
}

/** @returns undefined where the partner has no request with this id */
export async function readRequest(
  query: PortalQuery,
  id: bigint,
): Promise<AnsweredRequest | undefined> {
  const [row] = await query<Row>(ONE({ id: id.toString() }));
  return row && requestOf(row);
}

function requestOf(row: Row): AnsweredRequest {
  return { ...row, id: BigInt(row.id) };
}

/** An answer to the partner that was signed with a wrong figure, or may have been. */
export interface OwnCorrectedAnswer {
  readonly id: string;
  readonly correction: string;
  /** When the index was repaired. */
  readonly at: Date;
  readonly stakeSet: string;
  readonly reason: string;
  /** Id in the log of requests. */
  readonly request: string;
  /** X-Request-Id. */
  readonly requestId: string;
  readonly requestedAt: Date;
  readonly method: string;
  readonly path: string;
  readonly isCertain: boolean;
  readonly figures: readonly CorrectedFigure[];
}

interface CorrectionPage {
  /** The smallest id of the previous page. */
  readonly before?: string | undefined;
  readonly limit: number;
}

const CORRECTIONS = named<OrNull<CorrectionPage>>(
  'portal_corrected_answers',
  `SELECT id, correction, at, stake_set AS "stakeSet", reason, request, request_id AS "requestId", requested_at AS "requestedAt", method, path,
      is_certain AS "isCertain", figures
    FROM portal.corrected_answer WHERE :before::bigint IS NULL OR id < :before ORDER BY id DESC LIMIT :limit`,
);

/** Newest first. */
export function readCorrectedAnswers(
  query: PortalQuery,
  { before, limit }: CorrectionPage,
): Promise<OwnCorrectedAnswer[]> {
  return query<OwnCorrectedAnswer>(CORRECTIONS(orNull({ before, limit })));
}

/** By hour, oldest first. Hours without a request or call are left out. */
export interface OwnUsage {
  readonly requests: readonly {
    /** Start of the hour, UTC. */
    readonly hour: Date;
    /**
     * `answered` with a status below 400, `refused` with 400 to 499 except 429, `limited` with 429,
     * `failed` with 500 and above.
     */
    readonly answered: number;
    readonly refused: number;
    readonly limited: number;
    readonly failed: number;
  }[];
  readonly calls: readonly Pick<CallsOfHour, 'hour' | 'calls' | 'errors' | 'unsent'>[];
}

const REQUESTS_BY_HOUR = named<{ since: Date }>(
  'portal_requests_by_hour',
  `SELECT date_trunc('hour', at, 'UTC') AS hour, count(*) FILTER (WHERE status < 400)::int AS answered,
      count(*) FILTER (WHERE status BETWEEN 400 AND 499 AND status <> 429)::int AS refused,
      count(*) FILTER (WHERE status = 429)::int AS limited, count(*) FILTER (WHERE status >= 500)::int AS failed
    FROM portal.request WHERE at >= :since GROUP BY 1 ORDER BY 1`,
);

const CALLS_BY_HOUR = named<{ since: Date }>(
  'portal_calls_by_hour',
  `SELECT date_trunc('hour', begun_at, 'UTC') AS hour, count(*)::int AS calls, ${FAILED_CALLS}
    FROM portal.partner_call WHERE begun_at >= :since GROUP BY 1 ORDER BY 1`,
);

export async function readUsage(query: PortalQuery, since: Date): Promise<OwnUsage> {
  return {
    requests: await query<OwnUsage['requests'][number]>(REQUESTS_BY_HOUR({ since })),
    calls: await query<OwnUsage['calls'][number]>(CALLS_BY_HOUR({ since })),
  };
}
