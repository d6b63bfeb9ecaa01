import { describe, expect, it } from '@jest/globals';
import { createMetrics, measureConnections } from '../index.js';

describe('measureConnections', () => {
  it('tells how the pool is used when somebody asks', async () => {
    const registry = createMetrics('test');
    const database = { connections: { idle: 0, busy: 0, waiting: 0 } };
    measureConnections(registry, database);
    database.connections = { idle: 1, busy: 7, waiting: 3 };
    const text = await registry.getSingleMetricAsString('lowmark_database_connections');
    for (const [state, count] of Object.entries(database.connections)) {
      expect(text).toMatch(new RegExp(`\\{state="${state}",app="test"\\} ${count}$`, 'm'));
    }
  });
});
