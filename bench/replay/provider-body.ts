/** Sends the body of an answer, right or as rubbish. */
import { type ServerResponse } from 'node:http';
import { type RubbishKind } from './provider-behaviour.js';
import { type JsonParts } from './replay-methods.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const HUGE_BYTES = 200 * 1024 * 1024;
const PIECE = Buffer.alloc(1024 * 1024, ' ');

/** @returns the size of the body in bytes */
export function sendJson(response: ServerResponse, parts: JsonParts): number {
  const whole = parts.every((part) => typeof part === 'string')
    ? Buffer.from(parts.join(''), 'latin1')
    : Buffer.concat(
        parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)),
      );
  response.writeHead(200, { ...JSON_TYPE, 'content-length': whole.length }).end(whole);
  return whole.length;
}

/**
 * Sends rubbish in place of the answers. The kinds `wrong-ids` and `error-object` are excluded: they are built as JSON
 * from the calls.
 */
export async function sendRubbish(
  response: ServerResponse,
  kind: Exclude<RubbishKind, 'wrong-ids' | 'error-object'>,
): Promise<void> {
  switch (kind) {
    case 'html':
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<!doctype html><html><body><h1>Just a moment…</h1></body></html>');
      return;
    case 'truncated':
      response.writeHead(200, { ...JSON_TYPE, 'content-length': 10_000 });
      response.write('[{"jsonrpc":"2.0","id":1,"result":[{"address":"0x', () => response.destroy());
      return;
    case 'huge':
      response.writeHead(200, JSON_TYPE);
      for (let sent = 0; sent < HUGE_BYTES && !response.destroyed; sent += PIECE.length) {
        if (!response.write(PIECE)) await drained(response);
      }
      response.end('[]');
  }
}

/** Resolves when the socket takes more bytes, or is closed. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}
