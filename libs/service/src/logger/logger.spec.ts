import { describe, expect, it } from '@jest/globals';
import { redact } from '#libs/platform';
import { createLogger, NestLogger } from '../index.js';

function recording(): {
  lines: () => Record<string, unknown>[];
  logger: ReturnType<typeof createLogger>;
} {
  const written: string[] = [];
  const destination = { write: (line: string) => void written.push(line) };
  return {
    logger: createLogger({ app: 'test', level: 'trace', destination }),
    lines: () => written.map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

describe('createLogger', () => {
  it('writes one JSON record with its service, level and an ISO time', () => {
    const { logger, lines } = recording();
    logger.info({ blocks: 3 }, 'indexed');
    expect(lines()).toEqual([
      {
        app: 'test',
        level: 'info',
        time: expect.stringMatching(/^\d{4}-.*Z$/),
        blocks: 3,
        msg: 'indexed',
      },
    ]);
  });

  it('never writes a secret field or a credential inside a text', () => {
    const { logger, lines } = recording();
    const url = 'postgresql://lowmark:hunter2@db.internal:5432/lowmark';
    logger.error(
      {
        apiKey: 'hunter2',
        token: 'hunter2',
        partner: { sharedSecret: 'hunter2' },
        err: new Error(`no ${url}`),
      },
      `${url} and svck_hunter2hunter2`,
    );
    const text = JSON.stringify(lines());
    expect(text).not.toContain('hunter2');
    expect(text).toContain('postgresql://[redacted]@db.internal:5432/lowmark');
  });

  it('carries the messages of Nest with their context', () => {
    const { logger, lines } = recording();
    const nest = new NestLogger(logger);
    nest.log('Mapped {/health, GET} route', 'RouterExplorer');
    nest.error('broken', 'Error: broken\n  at x', 'ExceptionsHandler');
    nest.error(new Error('bare'));
    expect(lines()).toMatchObject([
      { level: 'debug', context: 'RouterExplorer', msg: 'Mapped {/health, GET} route' },
      {
        level: 'error',
        context: 'ExceptionsHandler',
        stack: 'Error: broken\n  at x',
        msg: 'broken',
      },
      { level: 'error', err: { message: 'bare' } },
    ]);
  });
});

describe('redact', () => {
  it.each([
    ['postgres://u:p@h/d', 'postgres://[redacted]@h/d'],
    ['https://:key@rpc.example/v1', 'https://[redacted]@rpc.example/v1'],
    ['redis://u:p@ss@h', 'redis://[redacted]@h'],
    ['mail a@b.example, see https://b.example/@a', 'mail a@b.example, see https://b.example/@a'],
    ['svcs_abcdefgh-_1', 'svcs_[redacted]'],
    ['Bearer svct_abcdefgh-_1', 'Bearer svct_[redacted]'],
  ])('%s', (text, expected) => {
    expect(redact(text)).toBe(expected);
  });
});
