import { type IncomingMessage } from 'node:http';
import { bodyTooLarge } from '../callbacks/create-callbacks.js';
import { Refusal } from '../callbacks/refusal.js';

/** What body parsers of the frameworks leave on a request. */
export interface ParsedRequest extends IncomingMessage {
  readonly rawBody?: unknown;
  readonly body?: unknown;
}

/** The caller went away before the body was whole: there is nobody to answer. */
export class CallerGoneError extends Error {
  override name = 'CallerGoneError';
}

/**
 * The bytes of the body as they came: those that a parser kept, or else read from the socket.
 * @throws Refusal (too large, already parsed), CallerGoneError
 */
export async function readBody(request: ParsedRequest, maxBytes: number): Promise<Uint8Array> {
  if (request.method !== 'POST') return new Uint8Array();
  const kept = [request.rawBody, request.body].find((bytes) => bytes instanceof Uint8Array);
  if (kept !== undefined) return kept;
  if (request.readableDidRead) throw alreadyParsed();
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw bodyTooLarge();
  return readStream(request, maxBytes);
}

function readStream(request: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) chunks.push(chunk);
      else reject(bodyTooLarge());
    });
    request.once('end', () => {
      resolve(Buffer.concat(chunks));
    });
    // After `end` this changes nothing.
    request.once('close', () => {
      reject(new CallerGoneError('The caller went away.'));
    });
    request.once('error', () => {
      reject(new CallerGoneError('The caller went away.'));
    });
  });
}

/** A mistake of the setup that every call runs into; told to the caller too, so that a first test shows what to do. */
function alreadyParsed(): Refusal {
  return new Refusal(
    'ERR-INTERNAL',
    'The body was parsed before its signature could be verified. Mount the callbacks before the body parser, or keep the bytes: ' +
      'express.json({ verify: (req, res, bytes) => { req.rawBody = bytes } }), in NestJS NestFactory.create(AppModule, { rawBody: true }).',
  );
}
