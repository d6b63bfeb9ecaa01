interface Write {
  (fields: object, message?: string): void;
  (message: string): void;
}

/** What a part of a program logs with. The programs make one that writes (`createLogger` of #libs/service). */
export interface Logger {
  readonly fatal: Write;
  readonly error: Write;
  readonly warn: Write;
  readonly info: Write;
  readonly debug: Write;
  readonly trace: Write;
}

export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
