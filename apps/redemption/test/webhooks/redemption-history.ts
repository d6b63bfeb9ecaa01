/** Changes of redemptions since a moment, from their transitions: what a subscriber must have received. */
import { type Database } from '#libs/db';

export class RedemptionHistory {
  private constructor(
    private readonly database: Database,
    private readonly before: ReadonlyMap<string, number>,
  ) {}

  /** Begins now; no transition may be written meanwhile. */
  static async begin(database: Database): Promise<RedemptionHistory> {
    const rows = await database.query<{ id: string; version: number }>({
      text: 'SELECT redemption_id AS id, max(version) AS version FROM redemption.transition GROUP BY 1',
    });
    return new RedemptionHistory(database, new Map(rows.map(({ id, version }) => [id, version])));
  }

  /** The public statuses of each redemption since the beginning, in order. */
  async changes(): Promise<Map<string, string[]>> {
    const rows = await this.database.query<{
      id: string;
      version: number;
      from: string | null;
      to: string;
    }>({
      text: `SELECT redemption_id AS id, version, from_state AS "from", to_state AS "to" FROM redemption.transition
        ORDER BY redemption_id, version`,
    });
    const changes = new Map<string, string[]>();
    for (const { id, version, from, to } of rows) {
      if (version <= (this.before.get(id) ?? -1)) continue;
      const status = publicStatus(to);
      if (from !== null && publicStatus(from) === status) continue;
      changes.set(id, [...(changes.get(id) ?? []), status]);
    }
    return changes;
  }
}

function publicStatus(state: string): string {
  if (state === 'created') return 'initial';
  return ['claimed', 'reverted', 'failed'].includes(state) ? state : 'pending';
}
