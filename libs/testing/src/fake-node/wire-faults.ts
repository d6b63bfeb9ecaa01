import { type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { type BodyFault } from './fault.js';

const TRICKLE_MS = 1000;

/** Sends a body, changed by a fault if there is one. */
export function sendBody(
  response: ServerResponse,
  body: string,
  fault: BodyFault | undefined,
): void {
  const json = { 'content-type': 'application/json' };
  switch (fault?.kind) {
    case undefined:
      response.writeHead(200, { ...json, 'content-length': Buffer.byteLength(body) }).end(body);
      return;
    case 'wrong-json':
      response.writeHead(200, json).end('{"jsonrpc":"2.0","id":1,"result":[}');
      return;
    case 'html':
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<!doctype html><html><body><h1>Welcome</h1></body></html>');
      return;
    case 'empty-body':
      response.writeHead(200, json).end();
      return;
    case 'coded':
      response.writeHead(200, { ...json, 'content-encoding': fault.coding }).end(gzipSync(body));
      return;
    case 'status-of-errors':
      response.writeHead(body.includes('"error"') ? fault.status : 200, json).end(body);
      return;
    case 'oversized-body':
      response.writeHead(200, json).end(body.padEnd(fault.bytes, ' '));
      return;
    case 'flood':
      flood(response.writeHead(200, json), fault);
      return;
    case 'truncated-body':
      response.writeHead(200, { ...json, 'content-length': Buffer.byteLength(body) });
      response.write(body.slice(0, Math.floor(body.length / 2)), () => response.destroy());
      return;
    case 'trickle':
      trickle(response.writeHead(200, json), body);
  }
}

function flood(response: ServerResponse, fault: BodyFault & { kind: 'flood' }): void {
  const chunk = Buffer.alloc(64 * 1024, ' ');
  const more = (): void => {
    while (fault.sent.bytes < fault.bytes && !response.destroyed) {
      fault.sent.bytes += chunk.length;
      if (!response.write(chunk)) {
        response.once('drain', more);
        return;
      }
    }
    response.end();
  };
  more();
}

function trickle(response: ServerResponse, body: string): void {
  let at = 0;
  const timer = setInterval(() => {
    response.write(body.charAt(at++));
    if (at >= body.length) response.end();
  }, TRICKLE_MS);
  response.on('close', () => {
    clearInterval(timer);
  });
}
