import { type LoggerService } from '@nestjs/common';
import { type Logger } from '#libs/platform';

type Level = 'info' | 'error' | 'warn' | 'debug' | 'trace' | 'fatal';

/** Start of the message that Nest logs before it throws the same error, which the caller catches and explains. */
const THROWN_AS_WELL = 'Error: listen ';

/** Writes Nest's own messages to our logger: `NestFactory.create(Module, { logger: new NestLogger(logger) })`. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  /** Nest logs each module and route that it sets up, which is `debug` detail for us. */
  log(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    const isThrown = typeof message === 'string' && message.startsWith(THROWN_AS_WELL);
    this.write(isThrown ? 'debug' : 'error', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  /** Nest passes the context last and, for errors, the stack before the context. */
  private write(level: Level, message: unknown, rest: unknown[]): void {
    const texts = rest.filter((part): part is string => typeof part === 'string');
    const context = texts.at(-1);
    const stack = texts.length > 1 ? texts[0] : undefined;
    const fields = {
      ...(context === undefined ? {} : { context }),
      ...(stack === undefined ? {} : { stack }),
    };
    if (message instanceof Error) this.logger[level]({ ...fields, err: message });
    else
      this.logger[level](fields, typeof message === 'string' ? message : JSON.stringify(message));
  }
}
