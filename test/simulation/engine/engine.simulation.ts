/** The engine of the redemption service in simulated worlds; see docs/redemption.md for what must hold. */
import { type Simulation } from '../kernel/index.js';
import { EngineWorld, PACE } from './world.js';

export const engineSimulation: Simulation = {
  name: 'engine',
  options: PACE,
  run: ({ choices, scheduler }) => new EngineWorld(choices, scheduler).play(),
};
