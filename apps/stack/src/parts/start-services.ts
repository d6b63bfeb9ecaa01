import { type StackContext } from '../context.js';
import { Service } from '../services/service.js';

export interface StackServices {
  readonly indexer: Service;
  readonly api: Service;
}

/** Starts the services and returns when each says that it is ready. */
export async function startServices(
  context: StackContext,
  environment: NodeJS.ProcessEnv,
): Promise<StackServices> {
  const { settings } = context;
  const [indexer, api] = await Promise.all([
    startService(context, { name: 'indexer', port: settings.indexerPort, environment }),
    startService(context, { name: 'api', port: settings.apiPort, environment }),
  ]);
  return { indexer, api };
}

async function startService(
  { screen, closers, died, paths, signal }: StackContext,
  options: {
    readonly name: string;
    readonly port: number;
    readonly environment: NodeJS.ProcessEnv;
  },
): Promise<Service> {
  const { name, port } = options;
  const service = await Service.start({
    name,
    port,
    environment: options.environment,
    logs: paths.logs,
  });
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
  return service;
}
