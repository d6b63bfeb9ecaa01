/**
 * Runs each language's example on the test vectors, where the language's tool is installed. CI must have all tools
 * except .NET, which Mono replaces there. Examples that do not run are reported. The Python examples for sealed days and
 * webhooks run on data from the product's own code.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { type Address, addressBytes, buildDayTree, DayListBuilder } from '#libs/domain';
import { createKeccak256 } from '#libs/keccak';
import { mintWebhookSecret } from '#libs/signing';
import { aWallet } from '#libs/testing/database';
import { type Language, languagesHere, sayMissing } from './languages.js';
import { read } from './markdown.js';

const EXAMPLES = resolve('docs/partners/examples');

interface Vector {
  readonly name: string;
  readonly algorithm?: string;
  readonly signature: string;
}

interface Vectors {
  readonly vectors: readonly Vector[];
  /** Vectors for lists, whose header is signed. */
  readonly lists?: readonly Vector[];
  /** Valid signatures that do not match the request. */
  readonly refused?: readonly Vector[];
}

interface VerifyLanguage extends Language {
  readonly run: (vectors: string) => [command: string, ...rest: string[]];
  /** The only algorithm that the example checks; by default it checks all. */
  readonly algorithm?: string;
}

interface Recipe {
  readonly name: string;
  readonly page: string;
  readonly vectors: string;
  readonly languages: readonly VerifyLanguage[];
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'partner-examples-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const RECIPES: readonly Recipe[] = [
  {
    name: 'X-API-SIGNATURE',
    page: 'docs/partners/signatures.md',
    vectors: resolve('docs/wire/signature-vectors.json'),
    languages: languages('verify', 'Verify'),
  },
  {
    name: 'HTTP Message Signatures',
    page: 'docs/wire/message-signatures.md',
    vectors: resolve('docs/wire/message-signature-vectors.json'),
    languages: languages('verify-message', 'VerifyMessage').map((language) => {
      if (language.name === 'shell') return { ...language, algorithm: 'ed25519' };
      return language.file.endsWith('.cs') ? { ...language, algorithm: 'hmac-sha256' } : language;
    }),
  },
];

function languages(file: string, csharpFile: string): VerifyLanguage[] {
  const at = (ending: string) => join(EXAMPLES, `${file}.${ending}`);
  return [
    {
      name: 'TypeScript',
      file: `${file}.ts`,
      tools: [[process.execPath, '--version']],
      run: (vectors) => [process.execPath, at('ts'), vectors],
      required: true,
    },
    {
      name: 'Python',
      file: `${file}.py`,
      tools: [['python3', '--version']],
      run: (vectors) => ['python3', at('py'), vectors],
      required: true,
    },
    {
      name: 'shell',
      file: `${file}.sh`,
      tools: [
        ['sh', '-c', 'true'],
        ['openssl', 'version'],
      ],
      run: (vectors) => ['sh', at('sh'), vectors],
      required: true,
    },
    {
      name: 'Go',
      file: `${file}.go`,
      tools: [['go', 'version']],
      run: (vectors) => ['go', 'run', at('go'), vectors],
      required: true,
    },
    {
      name: 'PHP',
      file: `${file}.php`,
      tools: [['php', '--version']],
      run: (vectors) => ['php', at('php'), vectors],
      required: true,
    },
    {
      name: 'C# on .NET',
      file: `${csharpFile}.cs`,
      tools: [['dotnet', '--version']],
      run: (vectors) => ['dotnet', 'run', '--project', csharpProject(csharpFile), '--', vectors],
    },
    {
      name: 'C# on Mono',
      file: `${csharpFile}.cs`,
      tools: [
        ['mcs', '--version'],
        ['mono', '--version'],
      ],
      run: (vectors) => ['mono', monoProgram(csharpFile), vectors],
      required: true,
    },
  ];
}

/** Makes a project for the example, since .NET before version 10 cannot run a single file. */
function csharpProject(file: string): string {
  const project = join(folder, file);
  const version = execFileSync('dotnet', ['--version'], { encoding: 'utf8' });
  mkdirSync(project, { recursive: true });
  writeFileSync(join(project, `${file}.cs`), readFileSync(join(EXAMPLES, `${file}.cs`)));
  const framework = `net${/^\d+/.exec(version)?.[0] ?? '8'}.0`;
  writeFileSync(
    join(project, `${file}.csproj`),
    `<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><OutputType>Exe</OutputType><TargetFramework>${framework}</TargetFramework></PropertyGroup></Project>`,
  );
  return project;
}

/** Compiles the example with the libraries that it names. */
function monoProgram(file: string): string {
  const [source, program] = [join(EXAMPLES, `${file}.cs`), join(folder, `${file}.exe`)];
  const references =
    /-r:[\w.,]+/.exec(readFileSync(join(EXAMPLES, 'Verify.cs'), 'utf8'))?.[0] ?? '';
  execFileSync('mcs', ['-langversion:7', '-warnaserror', references, `-out:${program}`, source]);
  return program;
}

function run(language: VerifyLanguage, vectors: string): { status: number | null; output: string } {
  const [command, ...rest] = language.run(vectors);
  const env = {
    ...process.env,
    GOCACHE: join(folder, 'go'),
    DOTNET_NOLOGO: '1',
    DOTNET_CLI_TELEMETRY_OPTOUT: '1',
  };
  const { status, stdout, stderr } = spawnSync(command, rest, { encoding: 'utf8', env });
  return { status, output: `${stdout}${stderr}` };
}

/** Changes a character in the middle, since the last character of base64 has unused bits. */
function spoiled(signature: string): string {
  const place = Math.floor(signature.length / 2);
  const other = signature[place] === '0' ? '1' : '0';
  return signature.slice(0, place) + other + signature.slice(place + 1);
}

describe.each(RECIPES)('the examples of $name', ({ page, vectors: file, languages: all }) => {
  const { installed, missing } = languagesHere(all);

  it('are run in the languages whose tools are here; the rest is named', () => {
    expect(sayMissing(missing)).toEqual([]);
  });

  it('are all named on the page', () => {
    const text = read(page);
    for (const example of all) expect(text).toContain(`examples/${example.file})`);
  });

  describe.each(installed)('in $name', (language) => {
    const {
      vectors,
      lists = [],
      refused = [],
      ...rest
    } = JSON.parse(readFileSync(file, 'utf8')) as Vectors;
    const isChecked = ({ algorithm }: Vector): boolean =>
      language.algorithm === undefined || algorithm === language.algorithm;
    const of = [...vectors, ...lists].filter(isChecked);

    const runOn = (name: string, some: readonly Vector[]) => {
      const written = join(folder, name);
      writeFileSync(written, JSON.stringify({ ...rest, vectors: some }, undefined, 2));
      return run(language, written);
    };

    it('verifies every worked example', () => {
      const { status, output } = run(language, file);
      // Tools may print other text before this line.
      const verified = `${of.length} of ${of.length} vectors verified\n`;
      expect(output.slice(-verified.length)).toBe(verified);
      expect(output).not.toContain('WRONG');
      expect(status).toBe(0);
    });

    it('finds each one that is wrong', () => {
      const wrong = [...vectors, ...lists].map(({ signature, ...vector }) => ({
        ...vector,
        signature: spoiled(signature),
      }));
      const { status, output } = runOn('wrong.json', wrong);
      expect(status).toBe(1);
      for (const { name } of of) expect(output).toContain(`WRONG  ${name}\n`);
      expect(output).toContain(`0 of ${of.length} vectors verified\n`);
    });

    const mustFail = refused.filter(isChecked);
    if (mustFail.length > 0) {
      it('refuses another nonce and another time', () => {
        const { status, output } = runOn('refused.json', refused);
        expect(status).toBe(1);
        for (const { name } of mustFail) expect(output).toContain(`WRONG  ${name}\n`);
      }, 120_000);
    }
  });
});

function python(example: string, file: object): { status: number | null; output: string } {
  const path = join(folder, 'file.json');
  writeFileSync(path, JSON.stringify(file));
  const program = join(EXAMPLES, example);
  const { status, stdout, stderr } = spawnSync('python3', ['-B', program, path], {
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr };
}

describe('proof.py', () => {
  it.each([0, 1, 2, 7])('checks the proofs and the list of %i wallets', async (count) => {
    const builder = new DayListBuilder();
    const list = Array.from({ length: count }, (_, place) => ({
      walletAddress: aWallet(2 * place + 1),
      low: String(10n ** 18n * BigInt(place + 1)),
    }));
    for (const { walletAddress, low } of list)
      builder.add(addressBytes(walletAddress), BigInt(low));
    const tree = buildDayTree(builder.list(), await createKeccak256());
    const proofOf = (walletAddress: Address) => {
      const { leaf, proof } = tree.prove(walletAddress);
      const low = leaf.wallet === walletAddress ? leaf.low : 0n;
      return { walletAddress, low: String(low), leaf: { ...leaf, low: String(leaf.low) }, proof };
    };
    const proofs = Array.from({ length: 2 * count + 2 }, (_, place) => proofOf(aWallet(place + 1)));
    const file = { root: tree.root, list, proofs };
    expect(python('proof.py', file)).toEqual({
      status: 0,
      output: `${proofs.length} proofs and a list of ${count} checked, 0 wrong\n`,
    });
    const other = { ...file, root: `0x${'1'.repeat(64)}` };
    expect(python('proof.py', other)).toMatchObject({
      status: 1,
      output: expect.stringContaining(`${proofs.length + 1} wrong`),
    });
    const [first] = proofs;
    const claimed = { ...file, proofs: [{ ...first, low: '5' }] };
    expect(python('proof.py', claimed).output).toContain(`WRONG  ${first?.walletAddress}`);
  });
});

describe('verify-webhook.py', () => {
  const at = new Date('2026-11-21T00:13:02Z');
  const now = at.getTime() / 1000;
  const [id, body] = ['msg_019aa6329d7b7c019b2f5b0f6f1a2c3d', '{"data":{},"type":"webhook.test"}'];
  const secret = mintWebhookSecret();
  const signature = new Webhook(secret).sign(id, at, body);
  const good = { id, timestamp: String(now), signature, body, secret, now };

  it('verifies what is signed, by one of several secrets too', () => {
    const rotated = { ...good, signature: `v1,AAAA ${signature}` };
    for (const one of [good, rotated]) {
      expect(python('verify-webhook.py', one)).toEqual({ status: 0, output: 'verified\n' });
    }
  });

  it.each([
    ['another body', { body: `${body} ` }],
    ['another id', { id: `${id}0` }],
    ['an old event', { now: now + 301 }],
    ['another time', { timestamp: String(now + 1) }],
    ['another secret', { secret: mintWebhookSecret() }],
    ['no time', { timestamp: '' }],
    ['no signature', { signature: '' }],
  ])('refuses %s', (_, change) => {
    const refused = python('verify-webhook.py', { ...good, ...change });
    expect(refused).toEqual({ status: 1, output: 'WRONG\n' });
  });
});
