import { randomUUID } from 'node:crypto';
import { type Database, type Statement } from '#libs/db';
import { type Deduction, Refusal } from '#libs/partner-sdk';
import { inTransaction, type Query } from '../store/transaction.js';
import { userNotFound } from '../store/players.js';

/**
 * The redemption id is the primary key: of concurrent calls the first one writes, and the others wait for it and find
 * its row.
 */
const RECORD: Statement = {
  name: 'game_record_deduction',
  text: `INSERT INTO game.deduction (svc_redemption_id, partner_transaction_id, partner_user_id, wallet, points, status)
    SELECT $1, $2, partner_user_id, wallet, $4, 'deducted' FROM game.player WHERE wallet = $3
    ON CONFLICT (svc_redemption_id) DO NOTHING
    RETURNING partner_user_id`,
};

/** Checks and takes in one statement, under the player's row lock. */
const TAKE: Statement = {
  name: 'game_take_points',
  text: `UPDATE game.player SET points = points - $2 WHERE partner_user_id = $1 AND points >= $2
    RETURNING points`,
};

const EARLIER: Statement = {
  name: 'game_earlier_deduction',
  text: `SELECT partner_transaction_id, wallet, points, status FROM game.deduction WHERE svc_redemption_id = $1`,
};

/**
 * Takes the points, once for each redemption id. One transaction records the deduction and takes the points, or does
 * neither.
 * @returns the partnerTransactionId
 * @throws Refusal ERR-DUPLICATE-REQUEST, ERR-USER-NOT-FOUND, ERR-INSUFFICIENT-POINTS
 */
export async function deductPoints(database: Database, deduction: Deduction): Promise<string> {
  const { address, deductPoints: points, svcRedemptionId } = deduction;
  const partnerTransactionId = `ptx_${randomUUID()}`;
  await inTransaction(database, async (query) => {
    const [recorded] = await query<{ partner_user_id: string }>(RECORD, [
      svcRedemptionId,
      partnerTransactionId,
      address,
      points,
    ]);
    if (recorded === undefined) throw await whyNotRecorded(query, deduction);
    const taken = await query(TAKE, [recorded.partner_user_id, points]);
    // The error undoes the record, so that the same redemption can be tried again when the player has the points.
    if (taken.length === 0) {
      throw new Refusal('ERR-INSUFFICIENT-POINTS', 'The player has fewer points than that.');
    }
  });
  return partnerTransactionId;
}

interface EarlierRow {
  partner_transaction_id: string | null;
  wallet: string | null;
  points: string | null;
  status: 'deducted' | 'reverted' | 'refused';
}

/**
 * The service takes the id in the answer to a duplicate for proof of its deduction. So the id is given only for a
 * deduction that stands, on exactly these terms: not for a reverted one, nor for one whose revert came first.
 */
async function whyNotRecorded(query: Query, deduction: Deduction): Promise<Refusal> {
  const { svcRedemptionId, address, deductPoints: points } = deduction;
  const [earlier] = await query<EarlierRow>(EARLIER, [svcRedemptionId]);
  if (earlier === undefined) return userNotFound();
  const { partner_transaction_id: id, wallet, status } = earlier;
  const stands = status === 'deducted' && wallet === address && Number(earlier.points) === points;
  return new Refusal(
    'ERR-DUPLICATE-REQUEST',
    'This redemption was already processed.',
    stands && id !== null ? { partnerTransactionId: id } : {},
  );
}
