import { PlayedPrice } from './players/played-price.js';
import { Simulation, type SimulationOptions } from './simulation.js';
import { verdict, type Verdict } from './verdict.js';
import { Dice } from './world/dice.js';
import { World } from './world/world.js';

/** One simulation on a world of its own. @throws Error where the workers do not get on */
export async function simulate(options: SimulationOptions): Promise<Verdict> {
  const dice = new Dice(`seed ${options.seed}`);
  const world = await World.create({ databaseUrl: options.databaseUrl, dice, hasLiar: true });
  try {
    const price = await PlayedPrice.start(world.database, {
      dice: dice.for('price'),
      nowMs: () => world.nowMs,
    });
    try {
      const simulation = new Simulation(world, dice, options, price);
      await simulation.run();
      return await verdict(simulation);
    } finally {
      await price.stop();
    }
  } finally {
    await world.stop();
  }
}
