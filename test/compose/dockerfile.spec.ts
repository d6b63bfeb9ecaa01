import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { programOf, ROOT, textOf, trialFile } from './compose-file.js';

const file = trialFile();
const services = Object.entries(file.services);

describe('Dockerfile', () => {
  const text = textOf('Dockerfile');

  it('needs no other front end and no one digest', () => {
    expect(text).not.toMatch(/^#\s*syntax\s*=/im);
    expect(text).not.toContain('@sha256:');
    expect([...text.matchAll(/^FROM (\S+)/gm)].map(([, from]) => from)).toEqual([
      '${NODE_IMAGE}',
      '${NODE_IMAGE}',
      '${NODE_IMAGE}',
    ]);
    expect(text).toContain('ARG NODE_IMAGE=node:24.19.0-bookworm-slim\n');
  });

  it('copies what exists, and what .dockerignore lets through', () => {
    const ignore = textOf('.dockerignore').split('\n');
    for (const [, line = ''] of text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)) {
      for (const path of line.split(' ')) {
        expect(existsSync(new URL(path, ROOT))).toBe(true);
        expect(ignore).toContain(`!${path}`);
      }
    }
  });

  it('has what the web pages are made of', () => {
    const folder = mkdtempSync(join(tmpdir(), 'lowmark-image-'));
    try {
      const copied = [...text.matchAll(/^COPY (docs\/\S+) \S+$/gm)].map(([, path = '']) => path);
      for (const path of [...copied, 'apps/web/clients.mjs', 'apps/web/partner-docs.mjs']) {
        cpSync(new URL(path, ROOT), join(folder, path), { recursive: true });
      }
      mkdirSync(join(folder, 'apps/web/src/api'), { recursive: true });
      symlinkSync(new URL('node_modules', ROOT), join(folder, 'node_modules'));
      const script = `import './apps/web/clients.mjs';
        import { renderDocuments } from './apps/web/partner-docs.mjs';
        console.log(renderDocuments().length > 0);`;
      const words = ['--input-type=module', '--eval', script];
      const made = spawnSync(process.execPath, words, { cwd: folder, encoding: 'utf8' });
      expect(made).toMatchObject({ stderr: '', stdout: 'true\n' });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('installs from the lock file, and without what only development needs', () => {
    expect(text).toContain('RUN npm ci --omit=dev');
    expect(text).not.toMatch(/npm (i|install)\b/);
    expect(text).toMatch(/^USER node$/m);
  });

  it('makes the folders that volumes are mounted at', () => {
    const mounted = services.flatMap(([, service]) =>
      programOf(service) === undefined
        ? []
        : (service.volumes ?? []).map((volume) => /:(\/[^:]+)/.exec(volume)?.[1] ?? ''),
    );
    for (const path of new Set(mounted)) expect(text).toContain(path);
  });

  it('takes the arguments that compose passes, but for those that Docker knows by itself', () => {
    const args = file.services['secrets']?.build?.args ?? [];
    for (const arg of args.filter((name) => !name.endsWith('PROXY'))) {
      expect(text).toContain(`ARG ${arg}`);
    }
  });
});
