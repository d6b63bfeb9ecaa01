/** Corrections of the index, the answers that they concern, and the events that tell partners of them. */
import { type Address, type CorrectedDays, DEFAULT_STAKE_SET, type PartnerId } from '#libs/domain';
import { type Database, run } from '../connection/database.js';
import { named } from '../connection/named.js';
import { addressOf } from '../connection/rows.js';
import { type CorrectedBlock } from './correction-rows.js';

export interface Correction {
  readonly id: string;
  readonly at: Date;
  readonly stakeSet: string;
  readonly reason: string;
  readonly blocks: readonly CorrectedBlock[];
  readonly days: readonly CorrectedDays[];
}

/** A successful request of the log, with the beginning of its answer. */
export interface SignedAnswer {
  readonly request: string;
  readonly requestId: string;
  readonly partnerId: PartnerId;
  /** The stake set that the partner reads by default. */
  readonly stakeSet: string;
  readonly at: Date;
  readonly method: string;
  readonly path: string;
  readonly body: Buffer;
  readonly bodyBytes: number;
}

/** A figure of an answer, in the unit of the answer. */
export interface CorrectedFigure {
  readonly walletAddress: Address;
  readonly field: string;
  /** As `2026-11-21`; of an average the last day. */
  readonly day?: string;
  readonly block?: number;
  /** Null: the answer left the entry out. */
  readonly signed: number | string | null;
  /** Null: there is no such entry. */
  readonly correct: number | string | null;
}

export interface CorrectedAnswer {
  readonly answer: Pick<
    SignedAnswer,
    'request' | 'requestId' | 'partnerId' | 'at' | 'method' | 'path'
  >;
  /** False if the log has only the beginning of the answer, so that it may hold a wrong figure. */
  readonly isCertain: boolean;
  readonly figures: readonly CorrectedFigure[];
}

/** The event of one partner: the canonical bytes that are sent and signed. */
export interface CorrectionEvent {
  readonly partnerId: PartnerId;
  readonly type: string;
  readonly payload: string;
}

const UNTOLD = named<{ set: string }>(
  'correction_untold',
  `SELECT id, at, stake_set AS "stakeSet", reason, blocks FROM partners.correction
    WHERE stake_set = :set AND told_at IS NULL ORDER BY id`,
);

const DAYS = named<{ id: string }>(
  'correction_days_of',
  `SELECT encode(wallet, 'hex') AS wallet, first_day AS "firstDay", last_day AS "lastDay", stored, correct FROM partners.corrected_days
    WHERE correction = :id ORDER BY wallet, first_day`,
);

const ANSWERS = named<{ after: string; until: Date; patterns: readonly string[]; limit: number }>(
  'correction_signed_answers',
  `SELECT r.id AS request, r.request_id AS "requestId", r.partner_id AS "partnerId",
      coalesce(p.stake_set, '${DEFAULT_STAKE_SET}') AS "stakeSet", r.at, r.method, r.path, r.body, r.body_bytes AS "bodyBytes"
    FROM partners.request r JOIN partners.partner p ON p.id = r.partner_id
    WHERE r.id > :after AND r.at <= :until AND r.status = 200 AND octet_length(r.body) > 0 AND lower(r.path) LIKE ANY (:patterns::text[])
    ORDER BY r.id LIMIT :limit`,
);

const TOLD = named<{ id: string }>(
  'correction_told',
  'UPDATE partners.correction SET told_at = clock_timestamp() WHERE id = :id AND told_at IS NULL RETURNING id',
);

const INSERT_ANSWERS = named<{ id: string; answers: string }>(
  'correction_insert_answers',
  `INSERT INTO partners.corrected_answer (correction, partner_id, request, request_id, requested_at, method, path, is_certain, figures)
    SELECT :id::bigint, * FROM json_to_recordset(:answers) AS a ("partnerId" uuid, request bigint, "requestId" text, at timestamptz,
      method text, path text, "isCertain" boolean, figures jsonb)`,
);

const INSERT_EVENTS = named<{ set: string; partnerId: string; type: string; payload: string }>(
  'correction_insert_events',
  `INSERT INTO webhooks.event (subscription, type, order_key, payload)
    SELECT id, :type, '', :payload FROM webhooks.subscription
    WHERE partner = :partnerId AND stake_set = :set AND removed_at IS NULL AND :type = ANY (topics) ORDER BY id`,
);

const PAGE = 500;
const ROWS_AT_ONCE = 1000;

export class CorrectionStore {
  constructor(private readonly database: Database) {}

  /** The corrections of a stake set whose answers were not looked for yet, oldest first. */
  async untold(set: string): Promise<Correction[]> {
    type Row = Omit<Correction, 'days'>;
    type Days = Record<'wallet' | 'stored' | 'correct', string> & {
      firstDay: number;
      lastDay: number;
    };
    const corrections: Correction[] = [];
    for (const row of await this.database.query<Row>(UNTOLD({ set }))) {
      const days = await this.database.query<Days>(DAYS({ id: row.id }));
      corrections.push({
        ...row,
        days: days.map(({ wallet, firstDay, lastDay, stored, correct }) => ({
          ...{ wallet: addressOf(wallet), firstDay, lastDay },
          ...{ stored: BigInt(stored), correct: BigInt(correct) },
        })),
      });
    }
    return corrections;
  }

  /**
   * The logged answers of before a correction, oldest first.
   * @param patterns of LIKE for the path, in lower case
   */
  async *signedAnswers(until: Date, patterns: readonly string[]): AsyncGenerator<SignedAnswer[]> {
    let after: string | undefined = '0';
    while (after !== undefined) {
      const asked = ANSWERS({ after, until, patterns, limit: PAGE });
      const page: SignedAnswer[] = await this.database.query<SignedAnswer>(asked);
      if (page.length > 0) yield page;
      after = page.length < PAGE ? undefined : page.at(-1)?.request;
    }
  }

  /** Stores the answers and writes the events of one correction, once. */
  async tell(
    { id, stakeSet }: Correction,
    answers: readonly CorrectedAnswer[],
    events: readonly CorrectionEvent[],
  ): Promise<void> {
    await this.database.transaction(async (client) => {
      const told = await run(client, TOLD({ id }));
      if (told.length === 0) return;
      for (let start = 0; start < answers.length; start += ROWS_AT_ONCE) {
        const rows = answers
          .slice(start, start + ROWS_AT_ONCE)
          .map(({ answer, isCertain, figures }) => ({ ...answer, isCertain, figures }));
        await client.query(INSERT_ANSWERS({ id, answers: JSON.stringify(rows) }));
      }
      for (const event of events) await client.query(INSERT_EVENTS({ set: stakeSet, ...event }));
    });
  }
}
