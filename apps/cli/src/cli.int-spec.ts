import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mintSecretsKey } from '#libs/signing';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { type Ran, runCaptured } from './testing/cli-bench.support.js';

let test: TestDatabase;
let empty: TestDatabase;
beforeAll(async () => {
  [test, empty] = await Promise.all([createTestDatabase(), createTestDatabase('empty')]);
});
afterAll(() => Promise.all([test.drop(), empty.drop()]));

const SECRETS_KEY = mintSecretsKey().toString('base64');

const cli = (settings: Record<string, string>, ...argv: string[]): Promise<Ran> =>
  runCaptured(argv, settings);

function settings(): Record<string, string> {
  return { DATABASE_URL: test.url, SECRETS_KEY };
}

describe('a command', () => {
  it('explains what is wrong, on the error stream and with exit code 1', async () => {
    const create = ['partner', 'create', '--name', 'Twice'];
    await cli(settings(), ...create);
    const faults: [Record<string, string>, string[], RegExp][] = [
      [settings(), create, /^Another partner has this name.*\[PARTNER_EXISTS\]\n$/],
      [settings(), ['partner', 'create'], /required option '--name <name>' not specified/],
      [settings(), [...create, '--rate', '0'], /'0' is invalid.*at least 1/],
      [settings(), [...create, '--burst', '1.5'], /'1.5' is invalid.*at least 1/],
      [settings(), ['partner', 'create', '--name', ' '], /must be 1 to 100 characters/],
      [settings(), ['nothing'], /unknown command 'nothing'/],
      [{ DATABASE_URL: test.url }, create, /SECRETS_KEY must be set/],
      [{ ...settings(), SECRETS_KEY: 'hunter2' }, create, /SECRETS_KEY must be 32 bytes in base64/],
      [{}, create, /DATABASE_URL must be set\n {2}SECRETS_KEY must be set/],
      [{ ...settings(), DATABASE_URL: empty.url }, create, /run `npm run migrate` first/],
      [
        { ...settings(), DATABASE_URL: 'postgresql://u:hunter2@127.0.0.1:1/x' },
        create,
        /^The database at 127\.0\.0\.1:1 did not answer \(ECONNREFUSED\)/,
      ],
      [
        { ...settings(), DATABASE_URL: `${test.url}?sslmode=require` },
        create,
        /^The database did not answer \(The server does not support SSL connections\)/,
      ],
    ];
    for (const [source, argv, message] of faults) {
      const { code, out, err } = await cli(source, ...argv);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toMatch(message);
      expect(err).not.toContain('hunter2');
    }
  });
});

describe('migrate', () => {
  it('says what it applied, and that there was nothing to do', async () => {
    const database = await createTestDatabase('empty');
    const source = { DATABASE_URL: database.url };
    expect(await cli(source, 'migrate')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Applied 2: Schema\d+, Staking\d+\n$/),
    });
    expect(await cli(source, 'migrate')).toMatchObject({
      code: 0,
      out: 'The schema is up to date.\n',
    });
    await database.drop();
  });
});

describe('help', () => {
  it('lists the commands', async () => {
    const { code, out } = await cli({}, '--help');
    expect(code).toBe(0);
    expect(out).toMatch(/migrate[\s\S]*partner[\s\S]*\.data\/stack\.json/);
  });
  it('ends quietly where nobody reads on, as with head', () => {
    const program = `"${process.execPath}" dist/apps/cli/src/main.js --help`;
    const shell = `set -o pipefail; ${program} | true; echo $? >&2`;
    expect(spawnSync('bash', ['-c', shell], { encoding: 'utf8' }).stderr).toBe('0\n');
  });
});
