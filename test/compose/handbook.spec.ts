import { readdirSync } from 'node:fs';
import { type Command } from 'commander';
import { describe, expect, it } from '@jest/globals';
import { systemClock } from '#libs/platform';
import { createProgram } from '../../apps/cli/src/cli.js';
import { ROOT, textOf } from './compose-file.js';

const program = createProgram({
  source: () => ({}),
  terminal: { out: () => undefined, err: () => undefined },
  clock: systemClock,
});

const PAGES = ['README.md', 'deploy/kubernetes/README.md', ...pagesIn('docs')];
const CALL =
  /(?:npm run (?:--silent )?cli --|\.\/lowmark (?:local )?cli|run --rm (?:--no-deps )?cli|cli\/src\/main\.js) ([^`|#"\n]+)/g;

function pagesIn(folder: string): string[] {
  return readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);
}

const calls = PAGES.flatMap((page) =>
  [...textOf(page).replaceAll('\\\n', ' ').matchAll(CALL)].map(([, line = '']) => ({ page, line })),
);

/** The command that the words name, and what is left of them. */
function leafOf(command: Command, [word, ...rest]: readonly string[]): [Command, string[]] {
  const child = command.commands.find((one) => one.name() === word);
  return child ? leafOf(child, rest) : [command, word === undefined ? [] : [word, ...rest]];
}

describe('the pages', () => {
  it('show commands', () => {
    expect(calls.length).toBeGreaterThan(30);
  });

  it.each(calls)('$page: $line', ({ line }) => {
    const [leaf, rest] = leafOf(program, line.trim().split(/\s+/));
    const known = [...leaf.options.map(({ long }) => long), '--help', '--version'];
    const options = rest.filter((word) => word.startsWith('--'));
    // Only a leaf does something; `redemption …` stands for all below it.
    if (!/…|--version/.test(line)) expect(leaf.commands.map((one) => one.name())).toEqual([]);
    expect(known).toEqual(expect.arrayContaining(options));
  });
});
