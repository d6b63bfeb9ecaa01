import { Controller, Get, Param, Query, Req, Res, UseGuards } from '@nestjs/common';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { ApiKeyGuard } from '../../auth/admission.js';
import { contractFrom } from '../../snapshots/snapshots.dto.js';
import { requireDay, revisionFrom } from '../days.dto.js';
import { CsvContract, NdjsonContract } from '../days.contract.js';
import { DayExports } from './day-exports.service.js';
import { type ExportFormat } from './day-lines.js';

type Texts = Readonly<Record<string, unknown>>;

/** `/api/staking/days/{day}/wallets`: all wallets of a sealed day at once. See `docs/wire/days.md`. */
@Controller('api/staking/days')
@UseGuards(ApiKeyGuard)
export class DayExportController {
  constructor(private readonly exports: DayExports) {}

  @Get(':day/wallets.ndjson')
  @NdjsonContract
  ndjson(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Param('day') day: string,
    @Query() query: Texts,
  ): Promise<void> {
    return this.send('ndjson', { request, reply }, { ...query, day });
  }

  @Get(':day/wallets.csv')
  @CsvContract
  csv(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Param('day') day: string,
    @Query() query: Texts,
  ): Promise<void> {
    return this.send('csv', { request, reply }, { ...query, day });
  }

  private send(
    format: ExportFormat,
    exchange: { readonly request: FastifyRequest; readonly reply: FastifyReply },
    { day, revision, contract }: Texts,
  ): Promise<void> {
    return this.exports.send(exchange, {
      format,
      day: requireDay('day', day),
      revision: revisionFrom(revision),
      contract: contractFrom(contract),
    });
  }
}
