import { readFileSync } from 'node:fs';

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

let added: (() => object) | undefined;

/** Puts more fields into each line that is logged from now on, by whichever logger: for what is known of the running code. */
export function addLogFields(fields: () => object): void {
  added = fields;
}

export function addedLogFields(): object | undefined {
  return added?.();
}

const REDACTED = '[redacted]';

// The user information of a URL, up to the last @ of its authority. Bounded, so that no line takes long to search.
const URL_CREDENTIALS = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/"'\\]{0,500}@/gi;
// Our own credentials, recognisable by their prefix.
const OWN_CREDENTIALS = /\bsvc([kst])_[A-Za-z0-9_-]{8,}/g;

/** The text without the credentials that URLs and our own tokens carry. */
export function redact(text: string): string {
  return text
    .replace(URL_CREDENTIALS, (_, scheme: string) => `${scheme}${REDACTED}@`)
    .replace(OWN_CREDENTIALS, (_, kind: string) => `svc${kind}_${REDACTED}`);
}

/** The version of this build: that of the nearest package.json above this file. */
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
