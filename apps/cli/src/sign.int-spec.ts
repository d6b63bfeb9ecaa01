import { createHmac } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CALLBACK_KEY, CALLBACK_SECRET, CliBench } from './testing/cli-bench.support.js';

const ID = '019aa632-9d7b-7c01-9b2f-5b0f6f1a2c3d';
const MESSAGE = ['--method', 'POST', '--path', '/game/x?y=1', '--request-id', ID, '--body', '{}'];
const CONTENT = `POST/game/x${ID}{}`;

let bench: CliBench;
let directory: string;
beforeAll(async () => {
  bench = await CliBench.start();
  directory = await mkdtemp(join(tmpdir(), 'lowmark-sign-'));
});
afterAll(() => bench.drop());

async function file(text: string): Promise<string> {
  const path = join(directory, 'file');
  await writeFile(path, text);
  return path;
}

function hmac(content: string, secret: string): string {
  return createHmac('sha256', secret).update(content).digest('hex');
}

describe('sign', () => {
  it('shows content and signature under the secret of a file, and never the secret', async () => {
    const argv = [...MESSAGE, '--secret-file', await file('a-secret-of-mine\n')];
    const ran = await bench.run('sign', ...argv);
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.out).toContain(CONTENT);
    expect(ran.out).toContain(hmac(CONTENT, 'a-secret-of-mine'));
    expect(ran.out).not.toContain('a-secret-of-mine');
  });

  it('takes the secret of a partner’s callbacks', async () => {
    const callback = ['--callback-url', 'https://game.example', '--callback-key', CALLBACK_KEY];
    const path = await file(CALLBACK_SECRET);
    const rest = ['--callback-secret-file', path, '--usd-per-point', '1'];
    await bench.run('partner', 'create', '--name', 'Signer', ...callback, ...rest);
    const { out } = await bench.run('sign', ...MESSAGE, '--partner', 'signer', '--json');
    const signature = hmac(CONTENT, CALLBACK_SECRET);
    expect(JSON.parse(out)).toEqual({ content: CONTENT, signature, mistakes: [] });
  });

  it('names the mistake in another signature, and fails', async () => {
    const given = hmac(CONTENT, 's').toUpperCase();
    const argv = [...MESSAGE, '--secret', '-', '--signature', given];
    const ran = await bench.runWith({ input: () => Promise.resolve('s\n') }, 'sign', ...argv);
    expect(ran.code).toBe(1);
    expect(ran.out).toContain('upper-case hex');
    const other = [...MESSAGE, '--secret', '-', '--signature', 'f'.repeat(64)];
    const unknown = await bench.runWith({ input: () => Promise.resolve('s') }, 'sign', ...other);
    expect(unknown.out).toContain('none that is known');
  });

  it.each([
    [['--method', 'GET', '--path', '/'], 'Give one of --secret-file, --secret and --partner.'],
    [[...MESSAGE, '--secret', 'x', '--body-file', '/none'], 'either --body or --body-file'],
    [['--method', 'GET', '--path', '/', '--secret', 'x', '--body-file', '/none'], 'ENOENT'],
    [[...MESSAGE, '--partner', 'nobody'], 'There is no partner of this name'],
  ])('refuses %j', async (argv, message) => {
    const ran = await bench.run('sign', ...argv);
    expect(ran.code).toBe(1);
    expect(ran.err).toContain(message);
  });
});

describe('partner set --capabilities-from', () => {
  const report = (capabilities: unknown) => file(JSON.stringify({ capabilities }));

  it('records what the tester saw at work, and nothing that it did not', async () => {
    const path = await report({ tombstones: true, 'enforces-freshness': null, other: true });
    const ran = await bench.run('partner', 'set', 'Signer', '--capabilities-from', path);
    expect(ran).toMatchObject({ code: 0 });
    expect(ran.out).toMatch(/capabilities +tombstones\n/);
  });

  it('refuses what is no report, and two lists', async () => {
    const set = (path: string, ...more: string[]) =>
      bench.run('partner', 'set', 'Signer', '--capabilities-from', path, ...more);
    expect((await set(await file('[]'))).err).toContain('not a report');
    expect((await set(await file('{'))).err).toContain('not a report');
    expect((await set('/none')).err).toContain('ENOENT');
    const path = await report({ tombstones: true });
    expect((await set(path, '--capability', 'none')).err).toContain('Give either');
  });
});
