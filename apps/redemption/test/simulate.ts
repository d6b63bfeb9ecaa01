import { Intruder } from './players/intruder.js';
import { PlayedPrice } from './players/played-price.js';
import { Simulation, type SimulationOptions } from './simulation.js';
import { verdict, type Verdict } from './verdict.js';
import { Dice } from './world/dice.js';
import { PARTNER_DAILY_TOKENS } from './world/terms.js';
import { World } from './world/world.js';

/** One simulation on a world of its own. @throws Error where the workers make no progress */
export async function simulate(options: SimulationOptions): Promise<Verdict> {
  const { databaseUrl, urlAs } = options;
  const dice = new Dice(`seed ${options.seed}`);
  const worker = { databaseUrl: urlAs('redemption') };
  const partnerDailyTokens = PARTNER_DAILY_TOKENS;
  const world = await World.create({
    databaseUrl,
    dice,
    hasLiar: true,
    partnerDailyTokens,
    worker,
  });
  const nowMs = (): number => world.nowMs;
  const stops = [() => world.stop()];
  try {
    const price = await PlayedPrice.start(world.database, { dice: dice.for('price'), nowMs });
    stops.push(() => price.stop());
    const intruder = await Intruder.start({ urlAs, dice: dice.for('intruder'), nowMs });
    stops.push(() => intruder.stop());
    const simulation = new Simulation(world, dice, options, { price, intruder });
    await simulation.run();
    return await verdict(simulation);
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}
