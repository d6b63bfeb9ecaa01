import { Controller, Get, Param, Query, Req, UseGuards } from '@nestjs/common';
import { type FastifyRequest } from 'fastify';
import { ApiKeyGuard, requireCaller } from '../auth/admission.js';
import { DayContract, DaysContract, ProofContract } from './days.contract.js';
import {
  type DayProofAnswer,
  parseDaysQuery,
  requireDay,
  type SealedDayOfSetAnswer,
  type SealedDaysAnswer,
} from './days.dto.js';
import { contractFrom, walletFrom } from '../snapshots/snapshots.dto.js';
import { SealedDays } from './sealed-days.service.js';

type Texts = Readonly<Record<string, unknown>>;

/** `/api/staking/days`: the roots of sealed days, and proofs against them. See `docs/wire/days.md`. */
@Controller('api/staking/days')
@UseGuards(ApiKeyGuard)
export class DaysController {
  constructor(private readonly sealedDays: SealedDays) {}

  @Get()
  @DaysContract
  page(@Req() request: FastifyRequest, @Query() query: Texts): Promise<SealedDaysAnswer> {
    return this.sealedDays.page(requireCaller(request.admission), parseDaysQuery(query));
  }

  @Get(':day')
  @DayContract
  day(
    @Req() request: FastifyRequest,
    @Param('day') day: string,
    @Query() query: Texts,
  ): Promise<SealedDayOfSetAnswer> {
    const caller = requireCaller(request.admission);
    return this.sealedDays.day(caller, requireDay('day', day), contractFrom(query['contract']));
  }

  @Get(':day/proof')
  @ProofContract
  proof(
    @Req() request: FastifyRequest,
    @Param('day') text: string,
    @Query() query: Texts,
  ): Promise<DayProofAnswer> {
    const caller = requireCaller(request.admission);
    const asked = { day: requireDay('day', text), wallet: walletFrom(query['walletAddress']) };
    return this.sealedDays.proof(caller, asked, contractFrom(query['contract']));
  }
}
