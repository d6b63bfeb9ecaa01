/** A few runs of the simulation; simulation.soak-spec.ts has many, and `npm run simulate` any number. */
import { testSeeds } from '#libs/testing';
import { describeSimulation } from './simulation.support-spec.js';

for (const seed of testSeeds()) describeSimulation(5, seed);
