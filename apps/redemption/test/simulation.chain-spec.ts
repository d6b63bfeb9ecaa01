/** A few runs of the simulation; simulation.soak-spec.ts does many, `npm run simulate` as many as one likes. */
import { testSeeds } from '#libs/testing';
import { describeSimulation } from './simulation.support-spec.js';

for (const seed of testSeeds()) describeSimulation(5, seed);
