import { type PartnerId } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';

export interface NewConformanceRun {
  readonly id: string;
  readonly partnerId: PartnerId;
  readonly baseUrl: string;
  /** The player's address, as it was given. */
  readonly address: string;
  readonly progress: object;
}

/** A report, or the reason why there is none. */
export type ConformanceOutcome =
  | { readonly report: object; readonly failure: null }
  | { readonly report: null; readonly failure: string };

/** Time for which a run counts as under way, unless its console extends the time by `noteProgress`. */
const LEASE = `interval '30 seconds'`;

/** Replaces the partner's last run, unless that one is still under way. */
const BEGIN = named<Omit<NewConformanceRun, 'progress'> & { progress: string }>(
  'conformance_run_begin',
  `INSERT INTO console.conformance_run AS last (partner, id, base_url, address, started_at, held_until, progress)
    VALUES (:partnerId, :id, :baseUrl, :address, now(), now() + ${LEASE}, :progress)
    ON CONFLICT (partner) DO UPDATE SET id = excluded.id, base_url = excluded.base_url, address = excluded.address,
      started_at = excluded.started_at, held_until = excluded.held_until, progress = excluded.progress, stop_requested = false,
      ended_at = NULL, report = NULL, failure = NULL
      WHERE last.ended_at IS NOT NULL OR last.held_until <= now()
    RETURNING id`,
);

const NOTE_PROGRESS = named<{ id: string; progress: string }>(
  'conformance_run_progress',
  `UPDATE console.conformance_run SET progress = :progress, held_until = now() + ${LEASE}
    WHERE id = :id AND ended_at IS NULL RETURNING stop_requested AS "isToStop"`,
);

const REQUEST_STOP = named<{ partnerId: PartnerId }>(
  'conformance_run_stop',
  'UPDATE console.conformance_run SET stop_requested = true WHERE partner = :partnerId',
);

const END = named<{ id: string; progress: string; report: string | null; failure: string | null }>(
  'conformance_run_end',
  `UPDATE console.conformance_run SET progress = :progress, ended_at = now(), report = :report, failure = :failure
    WHERE id = :id`,
);

/**
 * The last conformance run of each partner. The console that makes the run writes it, and all consoles show it. Its
 * times are the database's, so that they are the same for all consoles.
 */
export class ConformanceRunStore {
  constructor(private readonly database: Database) {}

  /** @returns false if a run of the partner is under way */
  async begin(run: NewConformanceRun): Promise<boolean> {
    const rows = await this.database.query(
      BEGIN({ ...run, progress: JSON.stringify(run.progress) }),
    );
    return rows.length > 0;
  }

  /**
   * Keeps the run under way.
   * @returns whether the run is to stop: a member asked for it, or another run has replaced this one
   */
  async noteProgress(id: string, progress: object): Promise<boolean> {
    const [row] = await this.database.query<{ isToStop: boolean }>(
      NOTE_PROGRESS({ id, progress: JSON.stringify(progress) }),
    );
    return row?.isToStop ?? true;
  }

  /** Asks the console that makes the run to stop it. */
  async requestStop(partnerId: PartnerId): Promise<void> {
    await this.database.query(REQUEST_STOP({ partnerId }));
  }

  async end(id: string, progress: object, outcome: ConformanceOutcome): Promise<void> {
    const report = outcome.report && JSON.stringify(outcome.report);
    const { failure } = outcome;
    await this.database.query(END({ id, progress: JSON.stringify(progress), report, failure }));
  }
}
