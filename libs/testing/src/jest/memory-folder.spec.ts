import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { makeMemoryFolder } from './memory-folder.mjs';

describe('the folder of a run', () => {
  let memory: string;
  beforeEach(() => {
    memory = mkdtempSync(join(tmpdir(), 'memory-'));
  });
  afterEach(() => {
    rmSync(memory, { recursive: true });
  });

  it('takes the place of what killed runs have left, and of nothing else', () => {
    const { pid: ended } = spawnSync('true');
    const mine = `lowmark-test-${process.pid}-a`;
    for (const name of [`lowmark-test-${ended}-a`, mine, 'of-another-program']) {
      mkdirSync(join(memory, name, 'data'), { recursive: true });
    }
    const made = makeMemoryFolder(memory);
    const others = readdirSync(memory).filter((name) => join(memory, name) !== made);
    expect(others.sort()).toEqual([mine, 'of-another-program']);
  });

  it('is none where memory cannot be written to', () => {
    expect(makeMemoryFolder(join(memory, 'missing'))).toBeUndefined();
  });
});
