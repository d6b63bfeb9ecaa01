/**
 * Finds the languages whose tools are installed on this machine. Languages without tools are reported; a missing
 * required one fails CI.
 */
import { spawnSync } from 'node:child_process';

export interface Language {
  readonly name: string;
  /** File name of the example in docs/partners/examples. */
  readonly file: string;
  /** Commands that succeed where the tools are installed. */
  readonly tools: readonly (readonly [string, ...string[]])[];
  /** Whether CI must have the tools. */
  readonly required?: true;
}

export interface LanguagesHere<T extends Language> {
  readonly installed: readonly T[];
  readonly missing: readonly T[];
}

export function languagesHere<T extends Language>(languages: readonly T[]): LanguagesHere<T> {
  const installed = languages.filter(({ tools }) =>
    tools.every(([command, ...rest]) => spawnSync(command, rest).status === 0),
  );
  return { installed, missing: languages.filter((one) => !installed.includes(one)) };
}

/** Reports the languages that do not run. @returns those that CI must have; empty outside CI */
export function sayMissing(missing: readonly Language[]): string[] {
  const files = missing.map(({ file, name }) => `${file} (${name})`);
  if (files.length > 0) {
    console.warn(`NOT RUN, the tools are not installed: ${files.join(', ')}`);
  }
  const required = missing.filter((language) => language.required);
  return process.env['CI'] === 'true' ? required.map(({ name }) => name) : [];
}
