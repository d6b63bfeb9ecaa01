import { Body, Controller, Delete, Get, HttpCode, Post } from '@nestjs/common';
import { ApiExtraModels } from '@nestjs/swagger';
import { readConformanceRun, readOpenDeductions } from '#libs/db';
import { Answers, Fails, Operation } from '#libs/openapi';
import { type ConsoleMember, CurrentMember, ForPartners, FreshSignIn } from '../auth/audience.js';
import { MemberLimit } from '../auth/member-limits.js';
import {
  CONFORMANCE_MODELS,
  ConformanceBody,
  ConformanceDto,
  OpenDeductionsBody,
  runBody,
} from './conformance.dto.js';
import { ConformanceService } from './conformance.service.js';
import { OwnRows } from './own-rows.js';

const MOST = 100;

const CONSEQUENCE =
  'The tester deducts points of the test player and gives them back, also where it is stopped. For a moment all the points are gone; ' +
  'more than 1000 are never taken at once, so give a test player with at most that many. ' +
  'Pairs of deductions and reverts stay in your history. Where claims may be confirmed, it costs the player one point.';

@Controller('api/partner/conformance')
@ForPartners()
@ApiExtraModels(...CONFORMANCE_MODELS)
export class ConformanceController {
  constructor(
    private readonly conformance: ConformanceService,
    private readonly rows: OwnRows,
  ) {}

  @Get()
  @Operation(
    'The run under way, or the last one',
    'The report is kept until the next run, or for a day.',
  )
  @Answers(200, 'The run, and what one does.', ConformanceBody)
  async show(@CurrentMember() member: ConsoleMember): Promise<ConformanceBody> {
    const run = await this.rows.read(member, readConformanceRun);
    return { consequence: CONSEQUENCE, run: run === undefined ? null : runBody(run) };
  }

  @Get('deductions')
  @Operation(
    'What runs could not give back yet',
    'It is tried again, later each time, up to once a day.',
  )
  @Answers(200, 'The next to be tried first.', OpenDeductionsBody)
  async open(@CurrentMember() member: ConsoleMember): Promise<OpenDeductionsBody> {
    const found = await this.rows.read(member, (query) => readOpenDeductions(query, MOST));
    const deductions = found.map(({ dueAt: nextAt, ...deduction }) => ({ ...deduction, nextAt }));
    return { deductions };
  }

  @Post()
  @HttpCode(202)
  @MemberLimit('RUN')
  @FreshSignIn()
  @Operation(
    'Run the conformance tester',
    'Against your callback as it is set; one run at a time, two minutes at most.',
  )
  @Answers(202, 'It has begun.', ConformanceBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  @Fails(404, 'You have no callback.', 'CALLBACK_MISSING')
  @Fails(409, 'Not now, or not there.', 'RUN_UNDER_WAY', 'CALLBACK_REFUSED')
  async start(
    @Body() wish: ConformanceDto,
    @CurrentMember() member: ConsoleMember,
  ): Promise<ConformanceBody> {
    await this.conformance.start(member, wish);
    return this.show(member);
  }

  @Delete()
  @HttpCode(204)
  @MemberLimit('REVOKE')
  @Operation(
    'Stop the run',
    'What was deducted is given back first. Done as well where none is under way.',
  )
  @Answers(204, 'It ends.')
  async stop(@CurrentMember() member: ConsoleMember): Promise<void> {
    await this.conformance.stop(member);
  }
}
