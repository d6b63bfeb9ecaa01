/** Which languages' tools are on this machine. What is not run is said, never passed over; CI fails where it is required. */
import { spawnSync } from 'node:child_process';

export interface Language {
  readonly name: string;
  /** The name of its example in docs/partners/examples. */
  readonly file: string;
  /** Commands that succeed where the tools are there. */
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

/** Names what is not run. @returns those of them that CI must have */
export function sayMissing(missing: readonly Language[]): string[] {
  const files = missing.map(({ file, name }) => `${file} (${name})`);
  if (files.length > 0) {
    console.warn(`NOT RUN, the tools are not installed: ${files.join(', ')}`);
  }
  const required = missing.filter((language) => language.required);
  return process.env['CI'] === 'true' ? required.map(({ name }) => name) : [];
}
