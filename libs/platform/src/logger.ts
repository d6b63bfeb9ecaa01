import { readFileSync } from 'node:fs';

interface Write {
  (fields: object, message?: string): void;
  (message: string): void;
}

/**
 * The interface through which the parts of a program log. Programs use the implementation of `createLogger` in
 * #libs/service.
 */
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

let added: (() => object) | undefined;

/**
 * Adds fields to every later log line of every logger, such as ids of the current trace. A second call replaces the
 * first.
 */
export function addLogFields(fields: () => object): void {
  added = fields;
}

export function addedLogFields(): object | undefined {
  return added?.();
}

const REDACTED = '[redacted]';

// The user information of a URL, up to the last @ of its authority. Bounds on repetitions limit the search time.
const URL_CREDENTIALS = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/"'\\]{0,500}@/gi;
// Our own credentials, recognisable by their prefix.
const OWN_CREDENTIALS = /\bsvc([kst])_[A-Za-z0-9_-]{8,}/g;

/** Replaces the credentials in URLs and our own tokens. */
export function redact(text: string): string {
  return text
    .replace(URL_CREDENTIALS, (_, scheme: string) => `${scheme}${REDACTED}@`)
    .replace(OWN_CREDENTIALS, (_, kind: string) => `svc${kind}_${REDACTED}`);
}

/** Version of this build: the version in the nearest package.json above this file. */
export function version(): string {
  for (let folder = new URL('./', import.meta.url); ; folder = new URL('../', folder)) {
    try {
      const text = readFileSync(new URL('package.json', folder), 'utf8');
      return (JSON.parse(text) as { version: string }).version;
    } catch (cause) {
      if (new URL('../', folder).href === folder.href) {
        throw new Error('no package.json above the program', { cause });
      }
    }
  }
}

/** The message of an error, or the text of any other value that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
