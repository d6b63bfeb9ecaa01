import { describeFailover } from './failover.support.js';
import { testSeeds } from '#libs/testing/seeds';

/** Number of failovers. CLUSTER_ROUNDS changes it; a number below the count of fault kinds leaves some kinds out. */
const ROUNDS = Number(process.env['CLUSTER_ROUNDS'] ?? 20);

const [, ofThisRun] = testSeeds();
describeFailover(ROUNDS, ofThisRun?.seed ?? 0);
