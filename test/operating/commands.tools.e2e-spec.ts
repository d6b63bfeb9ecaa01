/**
 * Runs the commands of the handbook, read from the pages, page after page on one system. What needs an engine, a cluster
 * or a registry is left out (LEFT_OUT); TYPED_ELSEWHERE lists the blocks that other tests run.
 */
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CALLBACK_SECRET } from '../../apps/cli/src/testing/cli-bench.support.js';
import { LANGUAGE_BLOCKS, VERIFY_BLOCKS, WALKED_BLOCKS } from '../partner-docs/partner-blocks.js';
import { read } from '../partner-docs/markdown.js';
import { STACK_BLOCKS } from '../stack/stack-commands.js';
import { Machine } from './machine/machine.js';
import { OperatedSystem } from './machine/operated-system.js';
import {
  isSettings,
  OPERATING_PAGES,
  PAGES,
  type ShellBlock,
  shellBlocks,
  sqlBlocks,
} from './machine/shell-blocks.js';
import {
  LEFT_OUT,
  runsWithoutContainers,
  withoutContainers,
} from './machine/without-containers.js';

/** Pages in the order in which an operator would need them; all other pages follow. */
const FIRST = [
  'first-day',
  'README',
  'compose',
  'chains',
  'prices',
  'partners',
  'redemption',
  'keys',
  'troubleshooting',
  'backup',
  'upgrade',
];

/**
 * Blocks that other tests run, with the file and the list from which each test takes them. Each test runs its whole
 * list.
 */
const TYPED_ELSEWHERE: readonly (readonly [
  file: string,
  list: string,
  blocks: readonly ShellBlock[],
])[] = [
  ['test/stack/stack-commands.ts', 'STACK_BLOCKS', STACK_BLOCKS],
  ['test/partner-docs/pages.soak-spec.ts', 'WALKED_BLOCKS', WALKED_BLOCKS],
  ['test/partner-docs/callbacks-in-languages.soak-spec.ts', 'LANGUAGE_BLOCKS', LANGUAGE_BLOCKS],
  ['test/verify/verify.soak-spec.ts', 'VERIFY_BLOCKS', VERIFY_BLOCKS],
];

/** Blocks that no test runs, with the reasons. */
const NOT_TYPED: Readonly<Record<string, string>> = {
  'npm ci && npm start\n':
    'the quick start has the same block; test/partner-docs/pages.soak-spec.ts says how it is typed',
  'npm ci && npm test\n': 'is this',
};

/** SQL blocks that are not run in this test, by their first words, with the reasons. */
const SQL_NOT_TYPED: readonly (readonly [begins: string, why: string])[] = [
  ['CREATE ROLE lowmark_reader', 'the roles are there: libs/db/src/roles/login-roles.int-spec.ts'],
  ['CREATE ROLE lowmark_receiver', 'each commit would wait for a second machine from then on'],
];

/** Placeholders of the pages, with their replacements. */
const REPLACED: readonly (readonly [words: RegExp, by: (system: OperatedSystem) => string])[] = [
  [
    /--callback-url https:\/\/game\.example\/svc/g,
    ({ partner }) => `--allow-private --callback-url ${partner.url}`,
  ],
  [/--block 123456/g, () => '--block 5'],
  [/--to 123456/g, () => '--to 5'],
  [/partner ping "My Game"/g, () => 'partner ping "My Game" --allow-private'],
  [/postgresql:\/\/owner:…@db\/lowmark/g, ({ postgres }) => `'${postgres.url}'`],
  // No migration allows it yet; test/upgrade/rolling-upgrade.soak-spec.ts has one that does.
  [/ --let-older-start NAME( NAME)?/g, () => ''],
];

const blocks = PAGES.flatMap(shellBlocks);
const sql = OPERATING_PAGES.flatMap(sqlBlocks);
const isSqlNotTyped = ({ code }: ShellBlock): boolean =>
  SQL_NOT_TYPED.some(([begins]) => code.includes(`\n${begins}`));
const typedElsewhere = TYPED_ELSEWHERE.flatMap(([, , typed]) => typed);
const isTypedElsewhere = ({ page, line }: ShellBlock): boolean =>
  typedElsewhere.some((one) => one.page === page && one.line === line);
const isNotTyped = ({ page, code }: ShellBlock): boolean =>
  page === 'README.md' && code in NOT_TYPED;
const place = ({ page }: ShellBlock): number => {
  const at = FIRST.findIndex((name) => page === `docs/operating/${name}.md`);
  return at === -1 ? FIRST.length : at;
};
const here = [
  ...blocks.filter((block) => !isTypedElsewhere(block) && !isNotTyped(block) && !isSettings(block)),
  ...sql.filter((block) => !isSqlNotTyped(block)),
]
  // The blocks of a page run in the page's order, in all languages.
  .sort(
    (one, other) =>
      place(one) - place(other) ||
      PAGES.indexOf(one.page) - PAGES.indexOf(other.page) ||
      one.line - other.line,
  );

it('runs the blocks of the handbook; each other one is in the list of the test that types it', () => {
  expect(here.length).toBeGreaterThan(40);
  expect(here.filter(({ page }) => page.startsWith('docs/partners/'))).toEqual([]);
  for (const [file, list, typed] of TYPED_ELSEWHERE) {
    expect(read(file)).toContain(list);
    expect(typed.length).toBeGreaterThan(2);
    expect(blocks).toEqual(expect.arrayContaining([...typed]));
  }
  expect(blocks.filter(isNotTyped)).toHaveLength(Object.keys(NOT_TYPED).length);
  expect(sql.filter(isSqlNotTyped)).toHaveLength(SQL_NOT_TYPED.length);
});

it('leaves out what stands in the pages, and nothing else', () => {
  const pages = here.map(({ code }) => code).join('');
  expect(Object.keys(LEFT_OUT).filter((words) => !pages.includes(words))).toEqual([]);
});

describe('the commands of', () => {
  let system: OperatedSystem;
  let machine: Machine;
  beforeAll(async () => {
    system = await OperatedSystem.start();
    const { root } = system.services;
    machine = await Machine.start(system.services);
    writeFileSync(join(machine.clone, 'secret.txt'), CALLBACK_SECRET);
    const { failed, output } = await machine.type(withoutContainers('./lowmark migrate', root));
    expect({ failed, output }).toMatchObject({ failed: [] });
    const urls = ['api', 'indexer', 'redemption', 'console', 'portal', 'cli'].map(
      (name) => `${name}_database_url`,
    );
    for (const name of urls) copyFileSync(join(root, 'secrets', name), join(machine.clone, name));
    await system.services.startIndexer();
  });
  afterAll(async () => {
    await machine.stop();
    await system.stop();
  });

  it.each(here.filter(({ code }) => runsWithoutContainers(code)))(
    '$page, line $line',
    async (block) => {
      const code = await prepared(block);
      const { password } = new URL(system.postgres.url);
      const { failed, output } = await machine.type(code, `${password}\n${password}\n`);
      const isHeld = code.includes('price accept');
      if (isHeld) await system.release();
      // While a price is held the doctor fails, as the page says.
      const mayFail = isHeld ? ['npm run --silent cli -- doctor'] : [];
      const wrong = failed.filter((command) => !mayFail.includes(command));
      expect({ wrong, output: wrong.length === 0 ? '' : output }).toEqual({
        wrong: [],
        output: '',
      });
      const readable = code.match(/echo readable/g) ?? [];
      expect(output.match(/^readable$/gm) ?? []).toHaveLength(readable.length);
    },
  );

  /** The code with the placeholders replaced, after the preparations that the page expects. */
  async function prepared({ page, code }: ShellBlock): Promise<string> {
    let text = page.endsWith('first-day.md')
      ? code
      : code.replace('--name "My Game"', `--name "${page}"`);
    text = withoutContainers(text, system.services.root);
    for (const [words, by] of REPLACED) text = text.replace(words, by(system));
    // As ./lowmark does at the end of a restore.
    if (text.includes('ledger restored'))
      text = `psql "$DATABASE_URL" -qX -v ON_ERROR_STOP=1 < deploy/pgbackrest/restored.sql\n${text}`;
    // The page says before this block that no partner may be bound to the stake set.
    if (text.includes('DROP SCHEMA stakes_golf'))
      text = `npm run --silent cli -- partner set "Golf" --stake-set default\n${text}`;
    if (text.includes('price accept 0.052')) await system.hold('0.052');
    if (text.includes('audit --last')) await system.audit();
    if (text.includes('reconciliation')) return text.replace(/\bID\b/, await system.claim());
    return /\bID\b/.test(text) ? text.replace(/\bID\b/g, await system.redemption()) : text;
  }
});
