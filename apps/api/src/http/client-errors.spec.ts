import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { FakeClock } from '#libs/testing/clock';
import { answerTo, exchange, expectError, expectSigned } from '../testing/wire.support.js';
import { Admissions, anonymousSecret } from '../auth/admission.js';
import { type LastUse } from '../auth/last-use.js';
import { type CredentialCache } from '../auth/credential-cache.js';
import { type ApiSettings } from '../api.env.js';
import { MemoryRateLimiter } from '#libs/cache';
import { type ParseError } from '#libs/service';
import { type RequestLog } from '../requests/request-log.js';
import { type MessageSignatures } from './message-signatures.js';
import { SignedWire } from './signed-wire.js';

const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');
const SECRET = anonymousSecret(SECRETS_KEY);
let server: Server | undefined;

afterEach(() => {
  server?.close();
});

/** A bare socket server that reports each connection as failed, as Node's parser does. */
async function failing(...errors: ParseError[]): Promise<number> {
  const clock = new FakeClock(0);
  const settings = { secretsKey: SECRETS_KEY } as ApiSettings;
  const admissions = new Admissions(
    {} as CredentialCache,
    {} as LastUse,
    settings,
    new MemoryRateLimiter(clock),
  );
  const { clientErrors } = new SignedWire(admissions, {} as RequestLog, {} as MessageSignatures);
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => {
      for (const error of errors) clientErrors.handle(error, socket);
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const failure = (fields: Partial<ParseError>): ParseError => Object.assign(new Error('x'), fields);

describe('what could not be parsed', () => {
  it.each([
    ['ERR_HTTP_REQUEST_TIMEOUT', 408],
    ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
  ])('answers %s with %s', async (code, status) => {
    const port = await failing(failure({ code }));
    const answer = await answerTo(port, ['x']);
    expectError(answer, status, 'BAD_REQUEST');
    expectSigned(answer, { method: '', path: '', secret: SECRET });
  });

  it('signs for the last request line before the place of the error', async () => {
    const packet =
      'GET /one?a HTTP/1.1\r\n\r\nPOST /two?b HTTP/1.1\r\nbad\r\n\r\nGET /three HTTP/1.1\r\n\r\n';
    const rawPacket = Buffer.from(packet);
    const error = failure({ code: 'HPE_X', rawPacket, bytesParsed: packet.indexOf('bad') });
    const answer = await answerTo(await failing(error), ['x']);
    expectSigned(answer, { method: 'POST', path: '/two', secret: SECRET });
  });

  it('answers once, however often the parser complains', async () => {
    const error = failure({ code: 'HPE_X' });
    expect(await exchange(await failing(error, error), ['x', 'y'])).toHaveLength(1);
  });

  it('says nothing to a connection that was reset', async () => {
    expect(await exchange(await failing(failure({ code: 'ECONNRESET' })), ['x'])).toEqual([]);
  });
});
