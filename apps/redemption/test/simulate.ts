import { Simulation, type SimulationOptions } from './simulation.js';
import { verdict, type Verdict } from './verdict.js';
import { Dice } from './world/dice.js';
import { World } from './world/world.js';

/** One simulation on a world of its own. @throws Error where the workers do not get on */
export async function simulate(options: SimulationOptions): Promise<Verdict> {
  const dice = new Dice(`seed ${options.seed}`);
  const world = await World.create({ databaseUrl: options.databaseUrl, dice });
  try {
    const simulation = new Simulation(world, dice, options);
    await simulation.run();
    return await verdict(simulation);
  } finally {
    await world.stop();
  }
}
