import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiResponse } from '@nestjs/swagger';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type Address } from '#libs/domain';
import { answerWithId } from '#libs/service';
import { ForSignedIn, Wallet } from '../auth/admission.js';
import { bearerHash } from '../auth/auth.service.js';
import { UserError } from '../http/user.error.js';
import { EVENT_STREAM_TYPE, EventStream } from './event-stream.js';
import { LiveRedemptions } from './live-redemptions.js';

const HEADERS = {
  'content-type': EVENT_STREAM_TYPE,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  // Without this header nginx buffers events until there are many.
  'x-accel-buffering': 'no',
};

/** Streams of changes. See `docs/wire/redemption.md`. */
@Controller('api/redemptions/events')
@ForSignedIn()
export class EventsController {
  constructor(private readonly live: LiveRedemptions) {}

  @Get()
  @ApiOperation({
    summary: 'The wallet’s redemptions, as they change',
    description:
      'Server-Sent Events. `snapshot` is the newest page as of GET /api/redemptions, `redemption` one redemption as of GET /api/redemptions/{id} whenever it has changed. Ends with the session. Where there is no room for another stream (429, 503), ask for the redemptions instead.',
  })
  @ApiHeader({
    name: 'Last-Event-ID',
    required: false,
    description:
      'The id that was received last: what has changed since is sent, without a snapshot where that is not too much.',
    schema: { type: 'string' },
  })
  @ApiResponse({
    status: 200,
    description: 'A stream that goes on until either side ends it.',
    content: { [EVENT_STREAM_TYPE]: { schema: { type: 'string' } } },
  })
  async events(
    @Wallet() wallet: Address,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const tokenHash = bearerHash(request.headers.authorization);
    if (tokenHash === undefined) throw UserError.unauthorized();
    if (request.method === 'HEAD') {
      void reply.headers(HEADERS).send();
      return;
    }
    const header = request.headers['last-event-id'];
    const lastEventId = typeof header === 'string' ? header : undefined;
    const listener = { wallet, tokenHash, clientAddress: request.ip, lastEventId };
    await this.live.listen(listener, (onEnd) => {
      if (reply.raw.destroyed || reply.raw.socket?.destroyed !== false) {
        // The client is gone: no answer is possible, and Fastify must not try to send one.
        void reply.hijack();
        return undefined;
      }
      answerWithId(request, reply);
      void reply.headers(HEADERS).hijack();
      for (const [name, value] of Object.entries(reply.getHeaders())) {
        if (value !== undefined) reply.raw.setHeader(name, value);
      }
      reply.raw.writeHead(200);
      return new EventStream(reply.raw, onEnd);
    });
  }
}
