import { Controller, Get, Query } from '@nestjs/common';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { type CorrectedFigure, readCorrectedAnswers } from '#libs/db';
import { Answers, Fails, Field, Operation } from '#libs/openapi';
import { type ConsoleMember, CurrentMember, ForPartners } from '../auth/audience.js';
import * as Input from '../http/inputs.js';
import { OwnRows } from './own-rows.js';
import { BeforeNumber, lastOf, PAGE_SIZE } from './page.dto.js';

export class CorrectionsQuery {
  @Input.Optional() @BeforeNumber() readonly before?: string;
}

const FIGURE = {
  oneOf: [{ type: 'number' as const }, { type: 'string' as const }],
  nullable: true,
};

@ApiSchema({ name: 'CorrectedFigure' })
export class CorrectedFigureBody {
  @Field.Text() readonly walletAddress!: string;
  @Field.Text('The field of the answer.') readonly field!: string;
  @Field.TextOrNull('Of an average the last day.') readonly day!: string | null;
  @Field.WholeOrNull('Of a history.') readonly block!: number | null;
  @ApiProperty({ ...FIGURE, description: 'As it was signed; null: left out.' })
  readonly signed!: number | string | null;
  @ApiProperty({ ...FIGURE, description: 'In the same unit; null: there is no such entry.' })
  readonly correct!: number | string | null;
}

@ApiSchema({ name: 'OwnCorrectedAnswer' })
export class CorrectedAnswerBody {
  @Field.Text() readonly id!: string;
  @Field.Text('Answers of one correction have the same.') readonly correction!: string;
  @Field.Time('When it was corrected.') readonly at!: Date;
  @Field.Text() readonly stakeSet!: string;
  @Field.Text('In the operator’s words.') readonly reason!: string;
  @Field.Text('The id in the log of requests, which is kept for some days.')
  readonly request!: string;
  @Field.Text('X-Request-Id.') readonly requestId!: string;
  @Field.Time() readonly requestedAt!: Date;
  @Field.Text() readonly method!: string;
  @Field.Text() readonly path!: string;
  @Field.Flag('False: only the beginning of the answer is known, so it may have a wrong figure.')
  readonly isCertain!: boolean;
  @Field.ListOf(CorrectedFigureBody) readonly figures!: CorrectedFigureBody[];
}

@ApiSchema({ name: 'OwnCorrectedAnswers' })
export class CorrectedAnswersBody {
  @Field.ListOf(CorrectedAnswerBody, 'Newest first.') readonly answers!: CorrectedAnswerBody[];
  @Field.TextOrNull('`before` of the next page; null on the last.') readonly next!: string | null;
}

/** Answers to the partner that were signed with a wrong figure. */
@Controller('api/partner')
@ForPartners()
export class CorrectionsController {
  constructor(private readonly rows: OwnRows) {}

  @Get('corrections')
  @Operation('Answers that were signed with a wrong figure', 'With the correct figures, 50 a page.')
  @Answers(200, 'A page.', CorrectedAnswersBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  async list(
    @Query() { before }: CorrectionsQuery,
    @CurrentMember() member: ConsoleMember,
  ): Promise<CorrectedAnswersBody> {
    const found = await this.rows.read(member, (query) =>
      readCorrectedAnswers(query, { before, limit: PAGE_SIZE }),
    );
    const answers = found.map((one) => ({ ...one, figures: one.figures.map(figureBody) }));
    return { answers, next: lastOf(found)?.id ?? null };
  }
}

function figureBody({ day, block, ...figure }: CorrectedFigure): CorrectedFigureBody {
  return { ...figure, day: day ?? null, block: block ?? null };
}
