/** Tests that the signature debugger and the command give the answers that the page shows. */
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  addPartner,
  type Api,
  startApi,
} from '../../apps/api/src/testing/api-harness.support-spec.js';
import { CliBench } from '../../apps/cli/src/testing/cli-bench.support-spec.js';
import { codeBlocks, read } from './markdown.js';
import { commands } from './shell-line.js';

const PAGE = 'docs/partners/why-does-my-signature-fail.md';

interface Question {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

let api: Api;
beforeAll(async () => {
  api = await startApi({ SIGNATURE_DEBUGGER: 'true' });
});
afterAll(() => api.stop());

it('names the mistake of the example', async () => {
  const { apiKey, sharedSecret } = await addPartner(api, 'my game');
  const blocks = codeBlocks(read(PAGE));
  const curl = blocks.find(({ code }) => code.includes('/api/debug/signature'))?.code ?? '';
  const question = JSON.parse(/-d '([^']*)'/.exec(curl)?.[1] ?? '') as Question;
  const answer = JSON.parse(
    blocks.find(({ language }) => language === 'json')?.code ?? '',
  ) as Record<string, unknown>;
  const sign = (content: string): string =>
    createHmac('sha256', sharedSecret).update(content).digest('hex');

  const { method, path, body } = question;
  const response = await fetch(`${api.url}/api/debug/signature`, {
    method: 'POST',
    headers: { 'X-API-KEY': apiKey, 'Content-Type': 'application/json' },
    body: JSON.stringify({ ...question, signature: sign(method + path + body) }),
  });
  const [right = ''] = path.split('?');
  expect(await response.json()).toEqual({ ...answer, signature: sign(method + right + body) });
});

it('is a command as well, for any secret', async () => {
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
