import { readdirSync } from 'node:fs';
import { type Command } from 'commander';
import { describe, expect, it } from '@jest/globals';
import { systemClock } from '#libs/platform';
import { createProgram } from '../../apps/cli/src/cli.js';
import { ROOT, textOf } from './compose-file.js';
import { FOLDER, manifestsOf, workloadsOf } from './kubernetes.js';

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

/** The command that the words name, and the remaining words. */
function leafOf(command: Command, [word, ...rest]: readonly string[]): [Command, string[]] {
  const child = command.commands.find((one) => one.name() === word);
  return child ? leafOf(child, rest) : [command, word === undefined ? [] : [word, ...rest]];
}

function optionsOf({ options }: Command): (string | null | undefined)[] {
  return [...options.map(({ long }) => long), '--help'];
}

/**
 * Commands that the handbook names within a sentence. No test runs these, so they are compared with the existing
 * commands.
 */
const SPANS = ['docs/operating', 'docs/partners'].flatMap(pagesIn).flatMap((page) =>
  // test/operating/commands.tools.e2e-spec.ts runs the code blocks.
  [
    ...textOf(page)
      .replace(/^ *```[^]*?^ *```$/gm, '')
      .matchAll(/`([^`\n]+)`/g),
  ].map(([, span = '']) => ({ page, words: span.split(/ +/) })),
);
const GROUPS = program.commands.filter((one) => one.commands.length > 0).map((one) => one.name());
/** Names of log lines and of `doctor` checks that look like commands. */
const NO_COMMANDS = ['console sign-in', 'price source', 'price limits'];
const COMPOSE_VERBS = ['build', 'exec', 'logs', 'ps', 'pull', 'run', 'stop', 'down'];

function spansOf(isMeant: (words: readonly string[]) => boolean): (typeof SPANS)[number][] {
  const found = SPANS.filter(
    ({ words }) => isMeant(words) && !NO_COMMANDS.includes(words.join(' ')),
  );
  return [...new Map(found.map((one) => [`${one.page} ${one.words.join(' ')}`, one])).values()];
}

/** The words that follow in each place, with each page's repetitions left out. */
function callsOf(pattern: RegExp): { readonly page: string; readonly words: readonly string[] }[] {
  const found = PAGES.flatMap((page) =>
    [...textOf(page).matchAll(pattern)].map(([, call = '']) => ({ page, call: call.trim() })),
  );
  const once = new Map(found.map((one) => [`${one.page} ${one.call}`, one]));
  return [...once.values()].map(({ page, call }) => ({ page, words: call.split(/ +/) }));
}

describe('what the handbook names', () => {
  const named = spansOf(
    ([first = '', second]) => second !== undefined && (first === 'cli' || GROUPS.includes(first)),
  ).filter(({ words }) => !words.includes('…'));

  it.each(named)('$page: $words', ({ words }) => {
    const [leaf, rest] = leafOf(program, words[0] === 'cli' ? words.slice(1) : words);
    expect(leaf.commands.map((one) => one.name())).toEqual([]);
    expect(optionsOf(leaf)).toEqual(
      expect.arrayContaining(rest.filter((word) => word.startsWith('--'))),
    );
  });

  const script = textOf('lowmark');
  const own = (/^ {4}((?:[a-z]+ \| )+[a-z]+)\) "\$command"/m.exec(script)?.[1] ?? '').split(' | ');
  const services = [
    ...['docker-compose.yml', 'docker-compose.backup.yml', 'docker-compose.local.yml']
      .map(textOf)
      .flatMap((file) => [...file.matchAll(/^ {2}([a-z-]+):$/gm)].map(([, name = '']) => name)),
    // An example of a service that the operator adds.
    'indexer-golf',
  ];

  // Also in code blocks, since only ./lowmark on a real engine runs most of these.
  it.each(callsOf(/(?<!\.)\.\/lowmark ([a-z][^`|#&;)"\n]*)/g))(
    '$page: ./lowmark $words',
    ({ words }) => {
      const [first = '', ...more] = words;
      const [verb = '', ...rest] = first === 'local' ? more : words;
      expect([...own, 'help', 'migrate', 'cli', 'index', 'console', ...COMPOSE_VERBS]).toContain(
        verb,
      );
      if (!['restart', 'stop', 'logs'].includes(verb)) return;
      // Words in capitals stand for a name.
      const names = rest.filter((word) => !/^(?:-|\d|[A-Z]+$)/.test(word));
      expect(services).toEqual(expect.arrayContaining(names));
    },
  );

  it.each(callsOf(/ (?:deployment|deploy|job)\/(?!kubernetes)(\w+)\b(?!\/)/g))(
    '$page: the workload $words',
    ({ words }) => {
      const workloads = workloadsOf(manifestsOf(FOLDER)).map(({ name }) => name);
      expect(workloads).toContain(words.join());
    },
  );

  it.each(callsOf(/npm run (?:--silent )?([\w:]+)/g))('$page: npm run $words', ({ words }) => {
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
    expect(scripts).toHaveProperty([words.join()]);
  });

  it.each(calls)('$page: $line', ({ line }) => {
    const [leaf, rest] = leafOf(program, line.trim().split(/\s+/));
    // Only a leaf is executable; `redemption …` stands for all commands below it.
    if (!/…|--version/.test(line)) expect(leaf.commands.map((one) => one.name())).toEqual([]);
    expect([...optionsOf(leaf), '--version']).toEqual(
      expect.arrayContaining(rest.filter((word) => word.startsWith('--'))),
    );
  });

  it('is not little', () => {
    expect(named.length).toBeGreaterThan(40);
    expect(calls.length).toBeGreaterThan(30);
    expect(own).toContain('upgrade');
  });
});
