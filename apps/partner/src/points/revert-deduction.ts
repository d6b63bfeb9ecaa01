import { randomUUID } from 'node:crypto';
import { type Database, type Statement } from '#libs/db';
import { Refusal, type Revert, type RevertDone } from '#libs/partner-sdk';
import { inTransaction, type Query } from '../store/transaction.js';
import { Contradiction } from './call-log.js';

/** Writes a tombstone. Waits for a concurrent deduction of the same id, and writes nothing where the id has a row. */
const WRITE_TOMBSTONE: Statement = {
  name: 'game_bury',
  text: `INSERT INTO game.deduction (svc_redemption_id, status) VALUES ($1, 'refused')
    ON CONFLICT (svc_redemption_id) DO NOTHING RETURNING status`,
};

const LOCK: Statement = {
  name: 'game_lock_deduction',
  text: `SELECT partner_transaction_id, partner_user_id, wallet, points, status
    FROM game.deduction WHERE svc_redemption_id = $1 FOR UPDATE`,
};

/**
 * A statement of its own after the lock: in one statement with the lock, the other tables would be read as they were
 * before the lock was granted.
 */
const OUTCOME: Statement = {
  name: 'game_outcome',
  text: `SELECT (SELECT partner_revert_id FROM game.revert WHERE svc_redemption_id = $1) AS partner_revert_id,
    (SELECT status FROM game.confirmation WHERE svc_redemption_id = $1) AS confirmed`,
};

const RECORD: Statement = {
  name: 'game_record_revert',
  text: 'INSERT INTO game.revert (partner_revert_id, svc_redemption_id, reason) VALUES ($1, $2, $3)',
};

const MARK: Statement = {
  name: 'game_mark_reverted',
  text: `UPDATE game.deduction SET status = 'reverted' WHERE svc_redemption_id = $1`,
};

const GIVE_BACK: Statement = {
  name: 'game_give_back',
  text: 'UPDATE game.player SET points = points + $2 WHERE partner_user_id = $1',
};

interface DeductionRow {
  partner_transaction_id: string;
  partner_user_id: string;
  wallet: string;
  points: string;
  status: 'deducted' | 'reverted' | 'refused';
}

/**
 * Gives the points back, once for each redemption id, in one transaction. A revert without a deduction leaves a
 * tombstone: a deduction of this id that arrives later (for example after a delay in the network) is refused, so
 * ERR-TRANSACTION-NOT-FOUND stays true.
 * @throws Refusal ERR-TRANSACTION-NOT-FOUND, ERR-ALREADY-REVERTED, ERR-INVALID-AMOUNT, ERR-INTERNAL (of another wallet,
 *   or confirmed as claimed)
 */
export async function revertDeduction(database: Database, revert: Revert): Promise<RevertDone> {
  const reverted = await inTransaction(database, async (query) => {
    const { svcRedemptionId, revertReason = null } = revert;
    const buried = await query(WRITE_TOMBSTONE, [svcRedemptionId]);
    if (buried.length > 0) return undefined;
    const [deduction] = await query<DeductionRow>(LOCK, [svcRedemptionId]);
    if (deduction === undefined || deduction.status === 'refused') return undefined;
    await requireRevertible(query, revert, deduction);
    const partnerRevertId = `prv_${randomUUID()}`;
    await query(RECORD, [partnerRevertId, svcRedemptionId, revertReason]);
    await query(MARK, [svcRedemptionId]);
    await query(GIVE_BACK, [deduction.partner_user_id, deduction.points]);
    return { partnerTransactionId: deduction.partner_transaction_id, partnerRevertId };
  });
  // Thrown after the transaction, so that the tombstone is committed.
  if (reverted === undefined) throw transactionNotFound();
  return reverted;
}

/** Checks in the order of the interface's rules: the transaction exists, is not reverted yet, and is of this amount. */
async function requireRevertible(
  query: Query,
  revert: Revert,
  deduction: DeductionRow,
): Promise<void> {
  const { svcRedemptionId, partnerTransactionId, address, deductPoints } = revert;
  const { partner_transaction_id: ours, wallet } = deduction;
  // The two ids must name the same deduction; otherwise another player's points might be given back.
  if (partnerTransactionId !== undefined && partnerTransactionId !== ours) {
    throw transactionNotFound();
  }
  const [outcome] = await query<{ partner_revert_id: string | null; confirmed: string | null }>(
    OUTCOME,
    [svcRedemptionId],
  );
  if (outcome?.partner_revert_id != null) {
    throw new Refusal('ERR-ALREADY-REVERTED', 'The points were already given back.', {
      partnerTransactionId: ours,
      partnerRevertId: outcome.partner_revert_id,
    });
  }
  if (deductPoints !== Number(deduction.points)) {
    throw new Refusal('ERR-INVALID-AMOUNT', 'deductPoints is not what was deducted.');
  }
  // ERR-TRANSACTION-NOT-FOUND would say that nothing was deducted.
  if (address !== wallet) {
    const facts = { svcRedemptionId, deductedFrom: wallet, revertFor: address };
    throw new Contradiction('ERR-INTERNAL', 'address is not that of the deduction.', facts);
  }
  if (outcome?.confirmed === 'claimed') {
    const message = 'The redemption was confirmed as claimed: its points are spent.';
    throw new Contradiction('ERR-INTERNAL', message, { svcRedemptionId });
  }
}

function transactionNotFound(): Refusal {
  return new Refusal('ERR-TRANSACTION-NOT-FOUND', 'There is no such deduction.');
}
