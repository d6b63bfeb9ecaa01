/**
 * Runs each language's example on the worked examples, where its tool is installed. Node, Python, PHP and a shell with openssl must
 * be there in CI; what was not run is said, never passed over.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Language, languagesHere, sayMissing } from './languages.js';
import { read } from './markdown.js';

const VECTORS = resolve('docs/wire/signature-vectors.json');
const EXAMPLES = resolve('docs/partners/examples');

interface Vectors {
  readonly vectors: { name: string; body: string; signature: string }[];
}

interface VerifyLanguage extends Language {
  readonly run: (vectors: string) => [command: string, ...rest: string[]];
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'partner-examples-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const LANGUAGES: readonly VerifyLanguage[] = [
  {
    name: 'TypeScript',
    file: 'verify.ts',
    tools: [[process.execPath, '--version']],
    run: (vectors) => [process.execPath, join(EXAMPLES, 'verify.ts'), vectors],
    required: true,
  },
  {
    name: 'Python',
    file: 'verify.py',
    tools: [['python3', '--version']],
    run: (vectors) => ['python3', join(EXAMPLES, 'verify.py'), vectors],
    required: true,
  },
  {
    name: 'shell',
    file: 'verify.sh',
    tools: [
      ['sh', '-c', 'true'],
      ['openssl', 'version'],
    ],
    run: (vectors) => ['sh', join(EXAMPLES, 'verify.sh'), vectors],
    required: true,
  },
  {
    name: 'Go',
    file: 'verify.go',
    tools: [['go', 'version']],
    run: (vectors) => ['go', 'run', join(EXAMPLES, 'verify.go'), vectors],
  },
  {
    name: 'PHP',
    file: 'verify.php',
    tools: [['php', '--version']],
    run: (vectors) => ['php', join(EXAMPLES, 'verify.php'), vectors],
    required: true,
  },
  {
    name: 'C#',
    file: 'Verify.cs',
    tools: [['dotnet', '--version']],
    run: (vectors) => ['dotnet', 'run', '--project', csharpProject(), '--', vectors],
  },
];

/** Before .NET 10 a file is not run without a project. */
function csharpProject(): string {
  const project = join(folder, 'csharp');
  const version = execFileSync('dotnet', ['--version'], { encoding: 'utf8' });
  mkdirSync(project, { recursive: true });
  writeFileSync(join(project, 'Verify.cs'), readFileSync(join(EXAMPLES, 'Verify.cs')));
  const framework = `net${/^\d+/.exec(version)?.[0] ?? '8'}.0`;
  writeFileSync(
    join(project, 'verify.csproj'),
    `<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><OutputType>Exe</OutputType><TargetFramework>${framework}</TargetFramework></PropertyGroup></Project>`,
  );
  return project;
}

const { installed, missing } = languagesHere(LANGUAGES);

function run(language: VerifyLanguage, vectors: string): { status: number | null; output: string } {
  const [command, ...rest] = language.run(vectors);
  const env = { ...process.env, DOTNET_NOLOGO: '1', DOTNET_CLI_TELEMETRY_OPTOUT: '1' };
  const { status, stdout, stderr } = spawnSync(command, rest, { encoding: 'utf8', env });
  return { status, output: `${stdout}${stderr}` };
}

describe('the examples', () => {
  it('are run in the languages whose tools are here; the rest is named', () => {
    expect(sayMissing(missing)).toEqual([]);
  });

  it('are all named on the page', () => {
    const page = read('docs/partners/signatures.md');
    for (const { file } of LANGUAGES) expect(page).toContain(`(examples/${file})`);
  });

  describe.each(installed)('in $name', (language) => {
    const { vectors } = JSON.parse(readFileSync(VECTORS, 'utf8')) as Vectors;

    it('verifies every worked example', () => {
      const { status, output } = run(language, VECTORS);
      // Tools may have something to say before it.
      const verified = `${vectors.length} of ${vectors.length} vectors verified\n`;
      expect(output.slice(-verified.length)).toBe(verified);
      expect(output).not.toContain('WRONG');
      expect(status).toBe(0);
    }, 120_000);

    it('finds each one that is wrong', () => {
      const wrong = vectors.map(({ signature, ...vector }) => {
        const last = signature.endsWith('0') ? '1' : '0';
        return { ...vector, signature: signature.slice(0, -1) + last };
      });
      const file = join(folder, 'wrong.json');
      writeFileSync(file, JSON.stringify({ vectors: wrong }, undefined, 2));
      const { status, output } = run(language, file);
      expect(status).toBe(1);
      for (const { name } of wrong) expect(output).toContain(`WRONG  ${name}\n`);
      expect(output).toContain(`0 of ${vectors.length} vectors verified\n`);
    }, 120_000);
  });
});
