/** A case that the client's other tests cannot produce: a connection that is lost between its opening and its use. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { anEndpoint, anId, DEDUCT } from '../testing/partner-bench.support.js';
import { RoguePartner } from '../testing/rogue-partner.support.js';
import { parsePartnerUrl, signedRequest } from '../partner-endpoint.js';
import { callDeadline, ExchangeFault } from './call-fault.js';
import { Connection, exchange, nothingArrived } from './exchange.js';

describe('an exchange', () => {
  let partner: RoguePartner;

  beforeEach(async () => {
    partner = await RoguePartner.start();
  });

  afterEach(async () => {
    await partner.close();
  });

  it('on a connection that is gone is unknown, and no other connection is made', async () => {
    const parsed = parsePartnerUrl(`http://127.0.0.1:${partner.port}`, { allowPrivate: true });
    if (!parsed.ok) throw new Error(parsed.message);
    const { url } = parsed;
    const request = signedRequest(DEDUCT, anId(), { endpoint: anEndpoint(), url });
    const socket = connect(partner.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.destroy();
    const deadline = callDeadline(500);
    const limits = { maxBodyBytes: 100, signal: deadline.signal };
    const arrived = nothingArrived();
    const connection = new Connection(socket, url.origin, '127.0.0.1');
    const ended = exchange(connection, request, limits, arrived);
    await expect(ended).rejects.toEqual(new ExchangeFault('reset', 'the connection was lost'));
    deadline.end();
    expect(arrived.phase).toBe('sending');
    expect(connection.hasNoBytesSent).toBe(true);
    expect(partner.connections).toBe(1);
    expect(partner.requests).toHaveLength(0);
  });
});
