import { evidenceContent, transactionIdsContent, needsEvidence } from '#libs/domain';
import { type Database, run } from '../connection/database.js';
import { named, type Statement } from '../connection/named.js';
import { noteCommand } from './audit-log.js';
import {
  type EvidenceSeal,
  READ_COLUMNS,
  readRows,
  type RedemptionRow,
  type StoredRedemption,
} from './redemption-row.js';

const OPEN: Statement = {
  name: 'evidence_open',
  text: `SELECT ${READ_COLUMNS} FROM redemption.redemption r
    WHERE r.state NOT IN ('claimed', 'reverted', 'failed') ORDER BY r.id`,
};

const ADOPT = named<{
  id: string;
  version: number;
  evidenceMac: Buffer | null;
  namesMac: Buffer | null;
}>(
  'evidence_adopt',
  `UPDATE redemption.redemption SET evidence_mac = coalesce(:evidenceMac, evidence_mac), names_mac = coalesce(:namesMac, names_mac)
    WHERE id = :id AND version = :version RETURNING id`,
);

/** Adoption of open redemptions that a program without EVIDENCE_KEY wrote. A person vouches for them. */
export class EvidenceAdoption {
  constructor(
    private readonly database: Database,
    private readonly seal: EvidenceSeal,
  ) {}

  /** Readable open redemptions without a valid MAC that lead to a payout or name a deduction, oldest first. */
  async foreign(): Promise<StoredRedemption[]> {
    const rows = await this.database.query<RedemptionRow>(OPEN);
    return readRows(rows, this.seal).found.filter(
      ({ isSealed, namesAreOurs, redemption }) =>
        namesAreOurs !== true ||
        (isSealed !== true && (needsEvidence(redemption) || redemption.plan !== null)),
    );
  }

  /**
   * Gives the row its MACs as it was read, and writes an audit row.
   * @returns false where the row has changed since
   */
  async adopt(
    { redemption, place }: StoredRedemption,
    { actor, approvedBy }: { readonly actor: string; readonly approvedBy?: string | undefined },
  ): Promise<boolean> {
    const macOf = (content: string | undefined) =>
      content === undefined ? null : this.seal.mac(content);
    const evidenceMac = macOf(evidenceContent(redemption, place));
    const namesMac = macOf(transactionIdsContent(redemption));
    const { id, version, partner } = redemption;
    return this.database.transaction(async (client) => {
      const rows = await run(client, ADOPT({ id, version, evidenceMac, namesMac }));
      if (rows.length === 0) return false;
      const second = approvedBy !== undefined && { arguments: { approvedBy } };
      const note = { command: 'redemption adopt', ...second, outcome: 'adopted' };
      await noteCommand(client, actor, note, { redemptionId: id, partner });
      return true;
    });
  }
}
