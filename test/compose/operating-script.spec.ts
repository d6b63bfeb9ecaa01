/**
 * Tests ./lowmark with a stand-in for docker that records its calls. `npm run test:compose` tests it with a real
 * engine.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ROOT } from './compose-file.js';

const BUNDLED = 'postgresql://lowmark:pw@postgres:5432/lowmark?sslmode=disable';
const ELSEWHERE = 'postgresql://lowmark:pw@db.example/lowmark';

/**
 * A stand-in for docker. It exits with 0 unless its arguments match FAILS. Each service has one container; the api may
 * already run another image.
 */
const DOCKER = `#!/bin/bash
echo "$*" >> calls
[ -z "$FAILS" ] || [[ $* != $FAILS ]] || exit 1
case "$*" in
  "compose config") printf 'name: clone\\nservices:\\n  secrets:\\n    image: %s\\n    pull_policy: %s\\n' "$IMAGE" "$PULL" ;;
  "compose config --services") echo "$SERVICES" ;;
  *" show /run/lowmark database_url") echo "$DATABASE_URL" ;;
  *" ps --quiet api") echo api-1 ;;
  *" ps --quiet indexer") echo indexer-1 ;;
  "inspect --format {{.Image}} "*) [[ $* != *api-1 ]] && echo sha256:before || echo "$API_IMAGE" ;;
  "inspect --format {{.RestartCount}} "*) echo 0 ;;
  "inspect "*) echo 10.0.0.1 ;;
  "image inspect "*) echo sha256:new ;;
  *" http://127.0.0.1:8404/;csv") echo 'api,1,UP,1,L7OK,200,10.0.0.1:3000' ;;
  "volume inspect "*) exit 1 ;;
esac
`;

interface Run {
  readonly code: number | null;
  readonly said: string;
  readonly calls: readonly string[];
}

describe('./lowmark', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'lowmark-script-'));
    for (const name of ['lowmark', 'deploy'])
      symlinkSync(fileURLToPath(new URL(name, ROOT)), join(folder, name));
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'bin/docker'), DOCKER);
    chmodSync(join(folder, 'bin/docker'), 0o755);
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  function lowmark(words: readonly string[], given: Readonly<Record<string, string>> = {}): Run {
    writeFileSync(join(folder, 'calls'), '');
    const env = {
      PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`,
      DATABASE_URL: BUNDLED,
      IMAGE: 'lowmark:local',
      PULL: 'never',
      API_IMAGE: 'sha256:before',
      SERVICES: 'backups',
      FAILS: '',
      ...given,
    };
    const options = { cwd: folder, env, encoding: 'utf8', input: '' } as const;
    const { status, stdout, stderr } = spawnSync(
      'bash',
      [join(folder, 'lowmark'), ...words],
      options,
    );
    const calls = readFileSync(join(folder, 'calls'), 'utf8').trimEnd().split('\n');
    return { code: status, said: stdout + stderr, calls };
  }

  const dumps = ({ calls }: Run): string[] => calls.filter((call) => call.includes(' pg_dump '));
  const tags = ({ calls }: Run): string[] => calls.filter((call) => call.startsWith('tag '));

  describe('restore', () => {
    beforeEach(() => {
      writeFileSync(join(folder, 'a.dump'), 'dump');
    });

    it('gives PostgreSQL its password before it starts it, as a new machine needs', () => {
      const { code, said, calls } = lowmark(['restore', 'a.dump']);
      expect({ code, said }).toMatchObject({ code: 0 });
      const at = (words: string): number => calls.findIndex((call) => call.includes(words));
      const order = [
        at('--exit-code-from secrets secrets'),
        at(' stop console redemption api indexer'),
        at(' --wait postgres'),
        at(' pg_restore -U lowmark '),
        at('--exit-code-from migrate migrate'),
      ];
      expect(order).not.toContain(-1);
      expect(order).toEqual([...order].sort((one, other) => one - other));
    });

    it('marks the ledger before anything can start on it, and says what is next', () => {
      const { calls, said } = lowmark(['restore', 'a.dump']);
      const at = (words: string): number => calls.findIndex((call) => call.includes(words));
      const filled = at(' pg_restore -U lowmark ');
      const marked = at(' -e PGOPTIONS= postgres psql ');
      expect([filled < marked, marked < at('migrate migrate')]).toEqual([true, true]);
      expect(said).toContain('Next: ./lowmark cli ledger restored');
      expect(said).toContain('nothing is deducted, paid or given back');
    });

    it.each([[['a.dump']], [['--to', 'latest']]])(
      'leaves no mark where nothing is missing: %j',
      (words) => {
        const { calls, said, code } = lowmark(['restore', '--nothing-lost', ...words]);
        expect({ code, said }).toMatchObject({ code: 0 });
        expect(calls.join('\n')).toContain(' -e PGOPTIONS=-c lowmark.nothing_lost=on ');
        expect(said).toContain('Next: ./lowmark up');
      },
    );

    it('stops nothing where a docker-compose.override.yml is left out', () => {
      writeFileSync(join(folder, 'docker-compose.override.yml'), '');
      for (const words of [['a.dump'], ['--to', 'latest']]) {
        const { code, said, calls } = lowmark(['restore', ...words], {
          COMPOSE_FILE: 'docker-compose.yml:docker-compose.backup.yml',
        });
        expect(code).toBe(1);
        expect(said).toContain('COMPOSE_FILE leaves out docker-compose.override.yml');
        expect(calls.filter((call) => / (?:stop|exec) /.test(call))).toEqual([]);
      }
    });

    it.each([[['a.dump']], [['--to', 'latest']]])(
      'makes no new keys for a database that was sealed under others: %j',
      (words) => {
        const { code, said, calls } = lowmark(['restore', ...words], {
          FAILS: '* show /run/lowmark secrets_key',
        });
        expect(code).toBe(1);
        expect(said).toContain('there is no secrets_key');
        expect(said).toContain('./lowmark secret set secrets_key');
        expect(calls.filter((call) => / (?:stop|exec) |secrets secrets$/.test(call))).toEqual([]);
      },
    );

    it('stops nothing where the secrets are not in order', () => {
      const { code, said, calls } = lowmark(['restore', 'a.dump'], {
        FAILS: '*--exit-code-from secrets*',
      });
      expect(code).toBe(1);
      expect(said).toContain('the secrets are not in order; nothing was changed.');
      expect(calls.filter((call) => / (?:stop|exec) /.test(call))).toEqual([]);
    });
  });

  it('runs `index` where the owner’s URL is', () => {
    const run = lowmark(['index', 'rewind', '--to', '5', '--dry-run']);
    expect(run.code).toBe(0);
    expect(run.calls.at(-1)).toMatch(
      / run --rm --no-deps -T migrate node dist\/apps\/cli\/src\/main.js index rewind --to 5 --dry-run$/,
    );
  });

  describe('upgrade', () => {
    it('makes a dump, and keeps the image of before', () => {
      const run = lowmark(['upgrade']);
      expect(run).toMatchObject({ code: 0 });
      expect(dumps(run)).toHaveLength(1);
      expect(tags(run)).toEqual(['tag sha256:before lowmark:before']);
    });

    it('refuses a PostgreSQL elsewhere, with what to do', () => {
      const run = lowmark(['upgrade'], { DATABASE_URL: ELSEWHERE });
      expect(run.code).toBe(1);
      expect(run.said).toContain('./lowmark upgrade --no-backup');
      expect(run.calls.filter((call) => /^tag | (?:build|up|rm) /.test(call))).toEqual([]);
    });

    it('needs none of its own with --no-backup', () => {
      const run = lowmark(['upgrade', '--no-backup', '--no-build'], { DATABASE_URL: ELSEWHERE });
      expect(run).toMatchObject({ code: 0 });
      expect(dumps(run)).toEqual([]);
      expect(run.calls.filter((call) => /^compose (?:build|pull) /.test(call))).toEqual([]);
      expect(tags(run)).toEqual(['tag sha256:before lowmark:before']);
      expect(run.calls.some((call) => call.includes('--exit-code-from migrate'))).toBe(true);
    });

    it('takes no option that it does not know for none', () => {
      const run = lowmark(['upgrade', '--nobackup']);
      expect(run).toMatchObject({ code: 1, calls: [''] });
      expect(run.said).toContain('--no-backup and --no-build');
    });

    it('keeps the version before as the way back where an upgrade ended half way', () => {
      const run = lowmark(['upgrade'], { API_IMAGE: 'sha256:half-taken' });
      expect(tags(run)).toEqual(['tag sha256:before lowmark:before']);
    });

    it.each([
      ['registry.example:5000/lowmark', 'registry.example:5000/lowmark:before'],
      ['registry.example:5000/lowmark:1.2.0', 'registry.example:5000/lowmark:before'],
      [`lowmark@sha256:${'a'.repeat(64)}`, 'lowmark:before'],
      [
        `registry.example/lowmark:1.2.0@sha256:${'a'.repeat(64)}`,
        'registry.example/lowmark:before',
      ],
    ])('keeps %s as %s', (image, kept) => {
      const run = lowmark(['upgrade'], { IMAGE: image, PULL: 'missing' });
      expect(run).toMatchObject({ code: 0 });
      expect(tags(run)).toEqual([`tag sha256:before ${kept}`]);
    });
  });
});
