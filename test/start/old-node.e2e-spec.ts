/** Tests every program on a Node version that is too old for the program's imports. Needs a build. */
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const programs = globSync('apps/*/src/main.ts').sort();

/** Makes the process report an old Node version before the first line of the program runs. */
const OLD =
  'data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.20.2"}})';

describe('on Node 20', () => {
  it.each(programs)('%s says in one line what it needs, and ends with 1', (source) => {
    const built = `dist/${source.replace(/\.ts$/, '.js')}`;
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', OLD, built], {
      encoding: 'utf8',
      env: {},
    });
    expect(stderr).toMatch(/^This is Node 20\.20\.2, and Lowmark needs 22\.19 or newer\. .*\n$/);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  });

  it.each(programs)('%s imports nothing else before', (source) => {
    const imports = [...readFileSync(source, 'utf8').matchAll(/^import .* from '(.+)';$/gm)];
    expect(imports.map(([, from]) => from)).toEqual(['#libs/node-version']);
  });

  it('there are all of them', () => {
    expect(programs).toHaveLength(7);
  });
});
