/** Starts the API as a program under measurement. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Program } from './program.js';

export interface ApiOptions {
  readonly databaseUrl: string;
  readonly secretsKey: string;
  readonly redisUrl?: string;
  /** Whether the API logs requests. Default: true. */
  readonly keepsRequests?: boolean;
  readonly logFile: string;
  readonly nodeOptions?: readonly string[];
}

/** A program, and the port on 127.0.0.1 on which it listens. */
export interface Listening {
  readonly program: Program;
  readonly port: number;
}

export async function startApi({
  databaseUrl,
  secretsKey,
  redisUrl,
  keepsRequests = true,
  logFile,
  nodeOptions = [],
}: ApiOptions): Promise<Listening> {
  const file = join(import.meta.dirname, '..', '..', 'apps', 'api', 'src', 'main.js');
  const program = Program.start(file, {
    logFile,
    nodeOptions,
    environment: {
      DATABASE_URL: databaseUrl,
      SECRETS_KEY: secretsKey,
      API_PORT: '0',
      LISTEN_HOST: '127.0.0.1',
      REQUEST_LOG: keepsRequests ? '7' : '0',
      ...(redisUrl !== undefined && { REDIS_URL: redisUrl }),
    },
  });
  return { program, port: await portIn(program, /"url":"http:\/\/127\.0\.0\.1:(\d+)/) };
}

/** Waits for the port in the program's log. @param pattern captures the port */
export async function portIn(program: Program, pattern: RegExp): Promise<number> {
  for (let waitedMs = 0; waitedMs < 20_000; waitedMs += 50) {
    program.requireRunning();
    const port = pattern.exec(program.tail())?.[1];
    if (port !== undefined) return Number(port);
    await sleep(50);
  }
  throw new Error(`a server did not start:\n${program.tail()}`);
}
