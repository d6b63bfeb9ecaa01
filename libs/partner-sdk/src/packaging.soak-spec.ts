/** Tests the package as a partner gets it: packed, unpacked into an empty project, imported, required, compiled. */
import { execFile } from 'node:child_process';
import {
  accessSync,
  constants,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { installPackage } from '#libs/testing/packages';

const run = promisify(execFile);
const HOME = resolve('libs/partner-sdk');
const MODULES = resolve('node_modules');
/** Milliseconds for two builds, four compilations and npm. */
const LONG_MS = 300_000;

let folder: string;
let project: string;
/** The files that `npm pack` has included, by their paths in the package. */
let packed: readonly string[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'partner-sdk-'));
  ({ project, packed } = await installPackage(HOME, folder, ['@types/node', 'undici-types']));
}, LONG_MS);
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** The pinned Node, and the Node of the machine where that is another one. */
function nodes(): string[] {
  const found = [process.execPath];
  for (const directory of (process.env['PATH'] ?? '').split(delimiter)) {
    const candidate = join(directory, 'node');
    if (directory.includes('node_modules') || !isExecutable(candidate)) continue;
    const real = realpathSync(candidate);
    if (!found.includes(real) && !real.includes(dirname(MODULES))) found.push(real);
  }
  return found;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const USE = `
const vector = JSON.parse(readFileSync(process.argv[2], 'utf8')).vectors[0];
const { secret, method, path, xApiRequest, body, signature } = vector;
const message = { method, url: path, requestId: xApiRequest, body };
const isSigned = sdk.verify(secret, message, signature);
const canonical = sdk.canonicalJson(JSON.parse(body)) === body;
const callbacks = sdk.createCallbacks({ apiKey: 'key', sharedSecret: secret, onRefused() {} }, {});
// A day without any wallet: two leaves.
const ends = ['0', 'f'].map((digit) => '0x' + digit.repeat(40));
const day = {
  root: '0x35d22662068d4b30ef46de1958fa24fcbcbed428f3f6b932d6810c7fa0bec5cd',
  leaf: { wallet: ends[0], low: '0', next: ends[1] },
  proof: ['0xea60cf24aa26c3640ddadd7b0dd8f12660cffb5b2f7ecbf2851c8a565878a1b9'],
};
const answers = [
  sdk.provenLow('0x' + 'A'.repeat(40), day),
  callbacks.handle({ method: 'GET', url: '/x', headers: {}, body: new Uint8Array() }),
];
Promise.all(answers).then(([low, { status }]) => {
  console.log(JSON.stringify({ isSigned, canonical, low: String(low), status, names: Object.keys(sdk).filter((name) => name !== '__esModule').sort() }));
});
`;

const NAMES = [
  'ConnectionError',
  'ERROR_CODES',
  'InvalidResultError',
  'LowmarkApiError',
  'MemoryReplayStore',
  'PartnerCallbacksModule',
  'Refusal',
  'SignatureError',
  'StakingClient',
  'TimeoutError',
  'UnexpectedAnswerError',
  'WebhookError',
  'canonicalJson',
  'createCallbacks',
  'expressCallbacks',
  'fastifyCallbacks',
  'fetchCallbacks',
  'newRequestId',
  'parseRequestId',
  'pathOf',
  'provenLow',
  'requestIdMs',
  'sign',
  'signedContent',
  'verify',
  'verifyJson',
  'verifyMessage',
  'verifyWebhook',
];

describe.each(nodes())('on %s', (node) => {
  it.each([
    [
      'imported',
      'use.mjs',
      `import { readFileSync } from 'node:fs'; import * as sdk from '@lowmark/partner-sdk';`,
    ],
    [
      'required',
      'use.cjs',
      `const { readFileSync } = require('node:fs'); const sdk = require('@lowmark/partner-sdk');`,
    ],
  ])('it can be %s', async (_, file, head) => {
    writeFileSync(join(project, file), head + USE);
    const args = [file, resolve('docs/wire/signature-vectors.json')];
    const { stdout, stderr } = await run(node, args, { cwd: project });
    expect(JSON.parse(stdout)).toEqual({
      isSigned: true,
      canonical: true,
      low: '0',
      status: 404,
      names: NAMES,
    });
    expect(stderr).toBe('');
  });
});

it('a Refusal of one form is known to the other', async () => {
  const file = join(project, 'both.mjs');
  writeFileSync(
    file,
    `import { createRequire } from 'node:module';
import { Refusal } from '@lowmark/partner-sdk';
const other = createRequire(import.meta.url)('@lowmark/partner-sdk').Refusal;
const refusal = new Refusal('ERR-INTERNAL', 'x');
console.log(other.is(refusal), refusal instanceof other, other.is(new Error('x')));`,
  );
  const { stdout } = await run(process.execPath, [file], { cwd: project });
  expect(stdout).toBe('true false false\n');
});

const CONSUMER = `
import { createServer } from 'node:http';
import { type CallbackHandlers, expressCallbacks, type Deduction, Refusal, StakingClient } from '@lowmark/partner-sdk';

const points = new Map<string, number>();
const handlers: CallbackHandlers = {
  getPoints: ({ address }) => ({ partnerUserId: 'p', points: points.get(address) ?? 0, chain: 'ronin' }),
  async deductPoints({ address, deductPoints }: Deduction) {
    if ((points.get(address) ?? 0) < deductPoints) throw new Refusal('ERR-INSUFFICIENT-POINTS', 'Too few.');
    return { partnerTransactionId: 'x' };
  },
  revertDeduction: () => ({ partnerTransactionId: 'x', partnerRevertId: 'y' }),
};
createServer(expressCallbacks({ apiKey: 'a', sharedSecret: 'b' }, handlers));
const client = new StakingClient({ baseUrl: 'https://staking.example', apiKey: 'a', sharedSecret: 'b' });
export const average: Promise<number> = client.snapshotsOrNone('0x').then((found) => found?.averageStakedAmount ?? 0);
// @ts-expect-error
new Refusal('ERR-SOMETHING', 'There is no such code.');
`;

describe('its types', () => {
  it.each([
    ['an ES module', 'NodeNext', 'NodeNext', 'mts'],
    ['CommonJS', 'Node16', 'Node16', 'cts'],
    ['CommonJS as NestJS 10 is set up', 'CommonJS', 'Node10', 'ts'],
    ['a bundler', 'ESNext', 'Bundler', 'ts'],
  ])('fit %s, with nothing skipped', async (_, module, moduleResolution, extension) => {
    const file = `consumer.${extension}`;
    writeFileSync(join(project, file), CONSUMER);
    const tsc = join(MODULES, 'typescript/bin/tsc');
    const options = ['--module', module, '--moduleResolution', moduleResolution, '--strict'];
    const more = [
      '--noEmit',
      '--target',
      'ES2022',
      '--types',
      'node',
      '--exactOptionalPropertyTypes',
    ];
    const compiled = await run(process.execPath, [tsc, ...options, ...more, file], {
      cwd: project,
    }).catch((error: unknown) => error as { stdout: string });
    expect(compiled.stdout).toBe('');
  });
});

describe('what is in it', () => {
  it('is both forms, their types, a page to read, and no test', () => {
    const { bin } = JSON.parse(readFileSync(join(HOME, 'package.json'), 'utf8')) as {
      bin: Record<string, string>;
    };
    expect(packed).toEqual(
      expect.arrayContaining([
        'README.md',
        'package.json',
        'dist/esm/index.js',
        'dist/esm/index.d.ts',
        'dist/cjs/index.js',
        'dist/cjs/index.d.ts',
        'dist/cjs/package.json',
        'dist/cjs/vendor/canonicalize.LICENSE',
        ...Object.values(bin).map((path) => path.replace('./', '')),
      ]),
    );
    expect(packed.filter((path) => path.includes('spec'))).toEqual([]);
    expect(packed.filter((path) => !/^(dist\/|README\.md$|package\.json$)/.test(path))).toEqual([]);
  });
});
