/**
 * Tests the three walks of docs/ARCHITECTURE.md against the code: every file exists, and imports join each to the
 * others.
 */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { ImportGraph } from './import-graph.js';
import { strayFiles, walksOf } from './walks.js';

const WALKS = walksOf(readFileSync('docs/ARCHITECTURE.md', 'utf8'));
const graph = new ImportGraph();

describe('the walks of ARCHITECTURE.md', () => {
  it.each([
    [
      'From `GET /api/staking/snapshots` to the SQL and back',
      [
        'apps/api/src/snapshots/snapshots.route.ts',
        'libs/db/src/snapshots/snapshot-store.ts',
        'libs/domain/src/balance/snapshot.ts',
      ],
    ],
    [
      'From an RPC log to a row',
      ['libs/chain/src/rpc/http-exchange.ts', 'libs/db/src/index-store/index-store.ts'],
    ],
    [
      'From a redemption to its deduct call',
      [
        'apps/redemption/src/redemptions/redemptions.controller.ts',
        'libs/db/src/redemption/redemption-store.ts',
        'libs/partner-client/src/wire/exchange.ts',
      ],
    ],
  ])('lead where they say: %s', (title, stations) => {
    const files = WALKS.find((walk) => walk.title === title)?.files ?? [];
    const places = stations.map((station) => files.indexOf(station));
    expect(places).not.toContain(-1);
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });

  it.each(WALKS)('go from import to import, over files that are there: $title', ({ files }) => {
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
    expect(new Set(files).size).toBe(files.length);
    expect(strayFiles(files, graph.joined)).toEqual([]);
    // Some of the files hold the walk together.
    const held = files.filter((file) => {
      const rest = files.filter((one) => one !== file);
      return strayFiles(rest, graph.joined).length > 0;
    });
    expect(held.length).toBeGreaterThan(0);
  });
});

describe('the graph of imports', () => {
  it('follows a name through the index of its lib to the file that declares it', () => {
    const imports = graph.importsOf('apps/api/src/snapshots/snapshots.route.ts');
    expect([...imports]).toEqual(
      expect.arrayContaining([
        'libs/db/src/snapshots/snapshot-store.ts',
        'libs/domain/src/balance/snapshot.ts',
        'apps/api/src/snapshots/snapshot-reader.ts',
      ]),
    );
    expect([...imports]).not.toContain('libs/db/src/index.ts');
  });

  it('joins no two files that do not know each other', () => {
    const [one, other] = [
      'libs/db/src/connection/rows.ts',
      'apps/api/src/snapshots/snapshot-answer.ts',
    ];
    expect(graph.joined(one, other)).toBe(false);
  });
});
