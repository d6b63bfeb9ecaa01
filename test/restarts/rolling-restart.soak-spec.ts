import { describeRollingRestart } from './rolling-restart.support-spec.js';

describeRollingRestart(5);
