import { describeRedemptionRestart } from './redemption-restart.support-spec.js';

describeRedemptionRestart(1);
