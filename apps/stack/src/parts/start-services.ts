import { type StackContext } from '../context.js';
import { Service } from '../services/service.js';

export interface ServicePlan {
  /** The folder under apps. */
  readonly name: string;
  readonly port: number;
  readonly environment: NodeJS.ProcessEnv;
}

/** Starts the services and returns when each says that it is ready. */
export async function startServices(
  context: StackContext,
  plans: readonly ServicePlan[],
): Promise<void> {
  const outcomes = await Promise.allSettled(plans.map((plan) => startService(context, plan)));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

async function startService(
  { screen, closers, died, paths, signal }: StackContext,
  { name, port, environment }: ServicePlan,
): Promise<void> {
  const service = await Service.start({ name, port, environment, logs: paths.logs });
  let stopping = false;
  closers.add(`the ${name}`, () => {
    stopping = true;
    return service.process.stop();
  });
  void service.process.ended.then(async () => {
    if (!stopping) died(await service.report());
  });
  await service.ready(signal, (reason) => {
    screen.progress(name, () => `not ready yet: ${reason}`);
  });
  screen.step(name, `ready on 127.0.0.1:${port}`);
}
