import { type Database, DatabaseUnavailableError, RedemptionViews } from '#libs/db';
import { LowmarkError, type UuidV7 } from '#libs/domain';

/** A command as the audit knows it. */
export interface AuditedCommand {
  readonly actor: string;
  /** `redemption retry` */
  readonly command: string;
  /** Without secrets. */
  readonly arguments?: object;
}

interface Concerned {
  readonly redemptionId?: UuidV7;
  /** The partner's id. */
  readonly partner?: string;
}

/**
 * Runs what leaves its own audit row when it is done, and leaves one where it is refused.
 * @throws whatever the work throws, also where the refusal cannot be written down
 */
export async function audited<T>(
  database: Database,
  { actor, command, arguments: given = {} }: AuditedCommand,
  concerned: Concerned,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof LowmarkError && !(error instanceof DatabaseUnavailableError)) {
      const note = { command, arguments: given, outcome: `refused: ${error.code}` };
      // Nothing was changed, and why is what the operator has to know: another error must not take its place.
      await new RedemptionViews(database).audit(actor, note, concerned).catch(() => undefined);
    }
    throw error;
  }
}
