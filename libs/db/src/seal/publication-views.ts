/** Views of the publications, for metrics and operators. */
import { PermanentError } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';
import {
  AT_PLACE,
  NEWEST_TRANSACTION,
  type PlaceParameters,
  placeParameters,
  type Publication,
  PUBLICATION_COLUMNS,
  publicationOf,
  type PublicationRow,
  type RegistryPlace,
} from './publication.js';

/** A publication on chain whose day was sealed again with another root and that was not acknowledged since. */
const REVISED = `(p.status IN ('mined', 'final') AND EXISTS (
    SELECT FROM (SELECT root, sealed_at FROM staking.sealed_day
      WHERE day = p.day ORDER BY revision DESC LIMIT 1) AS n
    WHERE n.root <> p.root AND (p.acknowledged_at IS NULL OR n.sealed_at > p.acknowledged_at)))`;
const DIFFERENT = `(p.status = 'refused' AND p.acknowledged_at IS NULL)`;

const SUMMARY = named<PlaceParameters>(
  'publications_summary',
  `SELECT count(*) FILTER (WHERE status IN ('due', 'sent'))::int AS waiting,
      min(due_at) FILTER (WHERE status IN ('due', 'sent', 'mined')) AS "waitingSince",
      count(*) FILTER (WHERE status = 'mined')::int AS mined,
      count(*) FILTER (WHERE status = 'final')::int AS final,
      max(day) FILTER (WHERE status = 'final') AS "lastDay",
      count(*) FILTER (WHERE ${DIFFERENT})::int AS different,
      count(*) FILTER (WHERE ${REVISED})::int AS revised
    FROM redemption.registry_publication p WHERE ${AT_PLACE}`,
);

const REVISED_DAYS = named<PlaceParameters>(
  'publications_revised',
  `SELECT day FROM redemption.registry_publication p WHERE ${AT_PLACE} AND ${REVISED} ORDER BY day LIMIT 100`,
);

const PAGE = named<PlaceParameters & { limit: number; before: number }>(
  'publications_page',
  `SELECT ${PUBLICATION_COLUMNS} FROM redemption.registry_publication p ${NEWEST_TRANSACTION}
    WHERE ${AT_PLACE} AND p.day < :before ORDER BY p.day DESC LIMIT :limit`,
);

const ACKNOWLEDGE = named<PlaceParameters & Record<string, unknown>>(
  'publication_acknowledge',
  `WITH noted AS (
      UPDATE redemption.registry_publication p SET acknowledged_at = :now, acknowledged_by = :actor, note = :note
      WHERE ${AT_PLACE} AND p.day = :day AND (${DIFFERENT} OR ${REVISED}) RETURNING day
    ), audited AS (
      INSERT INTO redemption.audit (actor, command, arguments, outcome)
      SELECT :actor, :command, :arguments, 'acknowledged' FROM noted
    )
    SELECT day FROM noted`,
);

export interface PublicationSummary {
  /** Publications that are due, or signed and in no block. */
  readonly waiting: number;
  /** Time since which the oldest publication that is not final is due. */
  readonly waitingSince: Date | null;
  readonly mined: number;
  readonly final: number;
  /** Last day of the publications that are final. */
  readonly lastDay: number | null;
  /** Publications where the registry holds another root, and that were not acknowledged. */
  readonly different: number;
  /** Publications on chain whose day was sealed again with another root, and that were not acknowledged. */
  readonly revised: number;
}

export interface PublicationNote {
  readonly day: number;
  /** `operator:NAME` */
  readonly actor: string;
  readonly command: string;
  /** The command's arguments, for the audit. */
  readonly arguments: object;
  /** 1 to 255 characters. */
  readonly note: string;
  readonly nowMs: number;
}

export class NoSuchPublicationError extends PermanentError {
  constructor(day: string) {
    super(
      'PUBLICATION_NOT_FOUND',
      `Nothing of ${day} waits for an explanation: \`registry status\` has what does.`,
    );
  }
}

/** Later than any day. */
const AFTER_LAST_DAY = 2_147_483_647;

export class PublicationViews {
  private readonly at: PlaceParameters;

  constructor(
    private readonly database: Database,
    place: RegistryPlace,
  ) {
    this.at = placeParameters(place);
  }

  async summary(): Promise<PublicationSummary> {
    const [row] = await this.database.query<PublicationSummary & object>(SUMMARY(this.at));
    if (row === undefined) throw new Error('an aggregate has one row');
    return row;
  }

  /** Days that were sealed again with another root after they were published; at most 100. */
  async revised(): Promise<number[]> {
    const rows = await this.database.query<{ day: number }>(REVISED_DAYS(this.at));
    return rows.map(({ day }) => day);
  }

  /** Newest first. */
  async page(limit: number, before = AFTER_LAST_DAY): Promise<Publication[]> {
    const statement = PAGE({ ...this.at, limit, before });
    return (await this.database.query<PublicationRow>(statement)).map(publicationOf);
  }

  /** @returns whether there was something to acknowledge */
  async acknowledge({ nowMs, ...given }: PublicationNote): Promise<boolean> {
    const values = { ...this.at, ...given, now: new Date(nowMs) };
    return (await this.database.query(ACKNOWLEDGE(values))).length > 0;
  }
}
