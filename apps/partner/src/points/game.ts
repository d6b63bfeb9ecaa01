import { type Database } from '#libs/db';
import { type CallbackHandlers } from '#libs/partner-sdk';
import { type Logger } from '#libs/platform';
import { confirmRedemption } from './confirm-redemption.js';
import { deductPoints } from './deduct-points.js';
import { readPoints } from '../store/players.js';
import { revertDeduction } from './revert-deduction.js';

/** The four operations of part B of the interface, each a function. */
export function createGame(database: Database, logger: Logger): CallbackHandlers {
  return {
    getPoints: ({ address }) => readPoints(database, address),
    deductPoints: async (deduction) => {
      const partnerTransactionId = await deductPoints(database, deduction);
      const { svcRedemptionId } = deduction;
      logger.info({ svcRedemptionId, partnerTransactionId }, 'Points deducted');
      return { partnerTransactionId };
    },
    revertDeduction: async (revert) => {
      const reverted = await revertDeduction(database, revert);
      const { svcRedemptionId } = revert;
      logger.info({ svcRedemptionId, ...reverted }, 'Points given back');
      return reverted;
    },
    confirmRedemption: async (confirmation) => {
      await confirmRedemption(database, confirmation);
      const { svcRedemptionId, status } = confirmation;
      logger.info({ svcRedemptionId, status }, 'Redemption confirmed');
    },
  };
}
