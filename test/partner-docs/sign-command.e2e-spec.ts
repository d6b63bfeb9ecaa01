/** Tests that the command gives the answer that the page shows. */
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { CliBench } from '../../apps/cli/src/testing/cli-bench.support.js';
import { codeBlocks, read } from './markdown.js';
import { commands } from './shell-line.js';

const PAGE = 'docs/partners/signatures.md';

it('the command names the mistake of the example, for any secret', async () => {
  const secret = 'a-secret-of-my-game';
  const id = '01a1fdfa-467b-7abc-8def-0123456789ab';
  const body = '{"address":"0xab","deductPoints":5}';
  const sign = (path: string): string =>
    createHmac('sha256', secret).update(`POST${path}${id}${body}`).digest('hex');
  const [command, ...more] = commands(PAGE, 'npm run --silent cli -- sign', {
    X_API_REQUEST: id,
    MY_SIGNATURE: sign('/deduct-points-by-address'),
    CALLBACK_SECRET: secret,
  });
  expect(more).toEqual([]);
  const folder = mkdtempSync(join(tmpdir(), 'partner-sign-'));
  const bench = await CliBench.start();
  try {
    const file = join(folder, 'body');
    writeFileSync(file, body);
    const words = (command?.words ?? []).map((word) => (word === 'body' ? file : word));
    const input = (): Promise<string> => Promise.resolve(command?.input ?? '');
    const { out } = await bench.runWith({ input }, 'sign', ...words);
    const shown = codeBlocks(read(PAGE)).find(({ code }) => code.startsWith('content '))?.code;
    const [content = '', , verdict = '', mistake = ''] = shown?.split('\n') ?? [];
    expect(out).toContain(content.slice(0, content.indexOf('{')));
    expect(out).toContain(sign('/game/deduct-points-by-address'));
    expect(out).toContain(verdict);
    expect(out).toContain(mistake);
    expect(out).not.toContain(secret);
  } finally {
    await bench.drop();
    rmSync(folder, { recursive: true });
  }
});
