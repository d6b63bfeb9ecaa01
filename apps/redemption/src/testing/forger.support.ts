/** Rows of redemption.redemption that the service did not write. Named as a test file, without tests of its own. */
import { randomBytes } from 'node:crypto';
import { mintUuidV7, type UuidV7 } from '#libs/domain';
import { type Registry } from '#libs/service';
import { type EngineBench } from './engine-bench.support.js';

/** The end of a redemption whose row its worker has refused. */
export const STOPPED = { state: 'attention', reason: 'evidence-invalid', isAlerted: true };
export const NO_PLAN = {
  plan_recipient: null,
  plan_amount: null,
  plan_deadline_seconds: null,
  plan_vault: null,
  plan_chain_id: null,
  plan_from_block: null,
  authorised_at: null,
};

/** Acts as an intruder who may even disable every trigger. */
export class Forger {
  constructor(private readonly bench: EngineBench) {}

  /** Writes as a superuser with the triggers of the ledger disabled. */
  async forge(text: string, values: unknown[] = []): Promise<void> {
    await this.bench.database.transaction(async (client) => {
      await client.query('SET LOCAL session_replication_role = replica');
      const { rowCount } = await client.query(text, values);
      if (rowCount !== 1) throw new Error('nothing forged');
    });
  }

  /** Copies a genuine row with its MACs, and changes other values. */
  async copied(id: UuidV7, change: object): Promise<UuidV7> {
    const copy = mintUuidV7(this.bench.clock.nowMs(), randomBytes(10));
    await this.forge(
      `INSERT INTO redemption.redemption
        SELECT (jsonb_populate_record(r, jsonb_build_object('id', $2::text) || $3::jsonb)).*
        FROM redemption.redemption r WHERE id = $1`,
      [id, copy, JSON.stringify(change)],
    );
    return copy;
  }

  /** A due time one second ago. */
  soon(): { readonly next_action_at: string } {
    return { next_action_at: new Date(this.bench.clock.nowMs() - 1000).toISOString() };
  }

  /** Lets the engine work on the redemption more than once. */
  async workedAt(id: UuidV7) {
    const { bench } = this;
    const before = await alertsIn(bench.registry);
    await bench.engine.sweep();
    await bench.pass(20);
    await bench.engine.sweep();
    const { state, reason } = await bench.read(id);
    return { state, reason, isAlerted: (await alertsIn(bench.registry)) > before };
  }
}

/** The number of alerts with this code. */
export async function alertsIn(registry: Registry, code = 'evidence-invalid'): Promise<number> {
  const values = await registry.getSingleMetric('lowmark_alerts_total')?.get();
  return (values?.values ?? [])
    .filter(({ labels }) => labels['code'] === code)
    .reduce((sum, { value }) => sum + value, 0);
}
