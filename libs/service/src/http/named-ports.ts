import { PermanentError } from '#libs/domain';

/** Ports by the name of the setting that sets them. */
export type NamedPorts = Readonly<Record<string, number | undefined>>;

/**
 * Calls `listen`.
 * @throws PermanentError PORT_TAKEN that names the setting, where one of the ports is taken; other errors of `listen`
 * as they are
 */
export async function listenOn<T>(ports: NamedPorts, listen: () => Promise<T>): Promise<T> {
  try {
    return await listen();
  } catch (error) {
    throw isTaken(error) ? portTaken(ports, error) : error;
  }
}

interface TakenError extends Error {
  readonly port: number;
  readonly address: string;
}

function isTaken(error: unknown): error is TakenError {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
}

function portTaken(ports: NamedPorts, cause: TakenError): PermanentError {
  const { port, address } = cause;
  const [variable = 'the port'] = Object.keys(ports).filter((name) => ports[name] === port);
  return new PermanentError(
    'PORT_TAKEN',
    `${variable}: port ${port} at ${address} is taken. Set ${variable} to a free port, or end what listens there.`,
    { cause },
  );
}
