import { Controller, Get, Query, Res, UseGuards } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { JSON_TYPE } from '../http/errors/error-body.js';
import { ApiKeyGuard } from '../http/keys/api-key.guard.js';
import { type SnapshotQuery, SnapshotQueryPipe } from './snapshot-query.pipe.js';
import { SnapshotsService } from './snapshots.service.js';

/** `GET /api/staking/snapshots`; see `docs/wire/snapshots.md`. */
@Controller('api/staking/snapshots')
@UseGuards(ApiKeyGuard)
export class SnapshotsController {
  constructor(private readonly snapshots: SnapshotsService) {}

  @Get()
  async read(
    @Query(SnapshotQueryPipe) query: SnapshotQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const { body, indexBlock, final } = await this.snapshots.read(query);
    void reply.headers({
      'content-type': JSON_TYPE,
      'x-index-block': indexBlock.toString(),
      'x-index-final': String(final),
    });
    return body;
  }
}
