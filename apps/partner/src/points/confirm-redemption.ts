import { type Database, type Statement } from '#libs/db';
import { type Confirmation, Refusal } from '#libs/partner-sdk';
import { inTransaction } from '../store/transaction.js';
import { Contradiction } from './call-log.js';

/** Makes a concurrent revert wait until the confirmation is stored. */
const LOCK: Statement = {
  name: 'game_share_deduction',
  text: `SELECT wallet, points, status FROM game.deduction WHERE svc_redemption_id = $1 FOR SHARE`,
};

const STORE: Statement = {
  name: 'game_store_confirmation',
  text: `INSERT INTO game.confirmation (svc_redemption_id, status, payload) VALUES ($1, $2, $3)
    ON CONFLICT (svc_redemption_id) DO NOTHING RETURNING status`,
};

const COMPARE: Statement = {
  name: 'game_compare_confirmation',
  text: `SELECT status, payload = $2::jsonb AS same FROM game.confirmation WHERE svc_redemption_id = $1`,
};

interface DeductionRow {
  wallet: string;
  points: string;
  status: 'deducted' | 'reverted' | 'refused';
}

/**
 * Stores the final outcome of a redemption once; a repeated identical confirmation changes nothing and succeeds.
 * @throws Refusal ERR-REDEMPTION-NOT-FOUND, ERR-INVALID-AMOUNT, ERR-ALREADY-REVERTED (claimed, but reverted here),
 *   ERR-INTERNAL
 */
export async function confirmRedemption(
  database: Database,
  confirmation: Confirmation,
): Promise<void> {
  requireConsistent(confirmation);
  const { svcRedemptionId, status } = confirmation;
  await inTransaction(database, async (query) => {
    const [deduction] = await query<DeductionRow>(LOCK, [svcRedemptionId]);
    if (deduction === undefined || deduction.status === 'refused') {
      throw new Refusal('ERR-REDEMPTION-NOT-FOUND', 'No points were deducted for this redemption.');
    }
    requireAgreement(confirmation, deduction);
    const payload = JSON.stringify(confirmation);
    const stored = await query(STORE, [svcRedemptionId, status, payload]);
    if (stored.length > 0) return;
    const [before] = await query<{ status: string; same: boolean }>(COMPARE, [
      svcRedemptionId,
      payload,
    ]);
    if (before?.same !== true) {
      const facts = { svcRedemptionId, before: before?.status ?? null, now: status };
      const message = 'This redemption was confirmed before, and otherwise.';
      throw new Contradiction('ERR-INTERNAL', message, facts);
    }
  });
}

/** Checks that the fields fit each other: a claim has its proof, and only one of the two times is set. */
function requireConsistent(confirmation: Confirmation): void {
  const { status, txnConfirmed, txnHash, claimedAt, revertedAt } = confirmation;
  const fault =
    status === 'claimed'
      ? (!txnConfirmed && 'txnConfirmed must be true') ||
        (typeof txnHash !== 'string' && 'txnHash must be given') ||
        (claimedAt === null && 'claimedAt must be a time') ||
        (revertedAt !== null && 'revertedAt must be null')
      : (claimedAt !== null && 'claimedAt must be null') ||
        (revertedAt === null && 'revertedAt must be a time');
  if (fault !== false) {
    throw new Refusal('ERR-INTERNAL', `The request is not usable: ${fault} where ${status}`);
  }
}

/** Checks that what the service reports agrees with our books. */
function requireAgreement(confirmation: Confirmation, deduction: DeductionRow): void {
  const { svcRedemptionId, status, address, deductPoints } = confirmation;
  const facts = { svcRedemptionId, confirmed: status, deduction: deduction.status };
  if (deductPoints !== Number(deduction.points)) {
    const message = 'deductPoints is not what was deducted.';
    throw new Contradiction('ERR-INVALID-AMOUNT', message, facts);
  }
  if (address !== deduction.wallet) {
    throw new Contradiction('ERR-INTERNAL', 'address is not that of the deduction.', facts);
  }
  if (status === 'claimed' && deduction.status === 'reverted') {
    throw new Contradiction('ERR-ALREADY-REVERTED', 'The points were given back.', facts);
  }
  if (status === 'reverted' && deduction.status === 'deducted') {
    throw new Contradiction('ERR-INTERNAL', 'The deduction still stands: revert it first.', facts);
  }
}
