import { describeRollingUpgrade } from './rolling-upgrade.support-spec.js';

describeRollingUpgrade(1);
