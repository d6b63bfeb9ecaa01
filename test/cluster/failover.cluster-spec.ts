import { describeFailover } from './failover.support-spec.js';
import { testSeeds } from '#libs/testing';

/** CLUSTER_ROUNDS gives another number: fewer than the kinds of faults leave some out. */
const ROUNDS = Number(process.env['CLUSTER_ROUNDS'] ?? 20);

const [, ofThisRun] = testSeeds();
describeFailover(ROUNDS, ofThisRun?.seed ?? 0);
