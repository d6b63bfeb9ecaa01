import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lowmark-dependencies-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function write(path: string, content: unknown): void {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), JSON.stringify(content));
}

/** Makes a project with one package: its lock entry and its installed package.json. */
function aProject(
  locked: Readonly<Record<string, unknown>>,
  installed?: Readonly<Record<string, unknown>>,
  allowScripts: Readonly<Record<string, boolean>> = {},
): void {
  write('package.json', { allowScripts });
  write('package-lock.json', { packages: { '': {}, 'node_modules/one': locked } });
  if (installed) write('node_modules/one/package.json', installed);
}

function check(...options: string[]): { status: number | null; said: string } {
  const script = join('scripts', 'check-dependencies.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...options, folder]);
  return { status, said: String(stdout) + String(stderr) };
}

const LOCKED = { version: '1.0.0', integrity: 'sha512-AA==' };

describe('check-dependencies', () => {
  it('is content with what is locked and installed', () => {
    aProject(LOCKED, { version: '1.0.0' });
    expect(check()).toEqual({
      status: 0,
      said: '1 packages are as locked; 0 of other platforms have no integrity.\n',
    });
  });

  it.each([
    ['an install script', { scripts: { postinstall: 'node steal.js' } }],
    ['another install script', { scripts: { preinstall: 'x' } }],
  ])('refuses %s that is not allowed', (_what, scripts) => {
    aProject(LOCKED, { version: '1.0.0', ...scripts });
    expect(check()).toMatchObject({ status: 1, said: expect.stringMatching(/install script/) });
    aProject(LOCKED, { version: '1.0.0', ...scripts }, { one: false });
    expect(check().status).toBe(0);
  });

  it('refuses a native build that npm would start by itself', () => {
    aProject(LOCKED, { version: '1.0.0' });
    write('node_modules/one/binding.gyp', {});
    expect(check()).toMatchObject({ status: 1, said: expect.stringMatching(/install script/) });
  });

  it('refuses a package without integrity, of another platform only on request', () => {
    aProject({ version: '1.0.0' }, { version: '1.0.0' });
    expect(check()).toMatchObject({ status: 1, said: expect.stringMatching(/no integrity/) });
    rmSync(join(folder, 'node_modules'), { recursive: true });
    aProject({ version: '1.0.0', optional: true });
    expect(check().status).toBe(0);
    expect(check('--all').status).toBe(1);
  });

  it('refuses another version than the locked one, a missing package, and an allowance for none', () => {
    aProject(LOCKED, { version: '1.0.1' });
    expect(check()).toMatchObject({ status: 1, said: expect.stringMatching(/installed as 1.0.1/) });
    rmSync(join(folder, 'node_modules'), { recursive: true });
    aProject(LOCKED);
    expect(check()).toMatchObject({ status: 1, said: expect.stringMatching(/not installed/) });
    aProject(LOCKED, { version: '1.0.0' }, { two: true });
    expect(check()).toMatchObject({ status: 1, said: expect.stringMatching(/no dependency/) });
  });
});
