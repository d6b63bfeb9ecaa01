import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';
import { addedLogFields, type LogLevel, redact } from '#libs/platform';
import { RequestScope } from '../request-id/request-id.js';

/** Fields of a log record whose value is always replaced. */
const SECRET_FIELDS = [
  'apiKey',
  'sharedSecret',
  'secret',
  'secretsKey',
  'password',
  'privateKey',
  'voucherSignerKey',
  'vaultCancellerKey',
  'vaultPauserKey',
  'token',
  'authorization',
  'x-api-key',
  'databaseUrl',
  'connectionString',
  'rpcUrls',
];

export const LOGGER = Symbol('Logger');

export interface LoggerOptions {
  /** Name of the service: the `app` field of every record. */
  readonly app: string;
  /** Default `info`. */
  readonly level?: LogLevel;
  /** Default: standard output. */
  readonly destination?: DestinationStream;
}

/**
 * A logger that writes one JSON record per line. Secret fields, and credentials inside any text (an error's message, a
 * URL), are replaced before the line leaves the process. `requestId` is the id of the current request, if any;
 * `addLogFields` adds more fields.
 */
export function createLogger({ app, level = 'info', destination }: LoggerOptions): Logger {
  const options = {
    level,
    base: { app },
    mixin: requestFields,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: {
      paths: SECRET_FIELDS.flatMap((field) => [`["${field}"]`, `*["${field}"]`]),
      censor: '[redacted]',
    },
    serializers: { err: errorFields },
    hooks: { streamWrite: redact },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

function requestFields(): object {
  const requestId = RequestScope.currentId();
  return { ...(requestId !== undefined && { requestId }), ...addedLogFields() };
}

/** The logged fields of an error. Errors of database drivers reference whole connections, including passwords. */
function errorFields(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return {
    type: name,
    message,
    ...(typeof code === 'string' && { code }),
    stack,
    ...(cause instanceof Error && { cause: { type: cause.name, message: cause.message } }),
  };
}
