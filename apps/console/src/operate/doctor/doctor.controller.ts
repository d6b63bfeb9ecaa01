import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiSchema } from '@nestjs/swagger';
import { type FindingState } from '#libs/doctor';
import { Answers, Field, Operation } from '#libs/openapi';
import { ForOperators } from '../../auth/audience.js';
import { type DoctorReport, DoctorService } from './doctor.service.js';

const FINDING_STATES = ['ok', 'warning', 'fault', 'not-checked'] as const;
const STATES = ['never', 'running', 'done'] as const;

@ApiSchema({ name: 'Finding' })
class FindingBody {
  @Field.Text('What was looked at.') readonly what!: string;
  @Field.OneOf(FINDING_STATES) readonly state!: FindingState;
  @Field.Text() readonly found!: string;
  @Field.TextOrNull('What to do about it.') readonly mend!: string | null;
}

@ApiSchema({ name: 'DoctorReport' })
class DoctorBody {
  @Field.OneOf(STATES) readonly state!: (typeof STATES)[number];
  @Field.TimeOrNull() readonly startedAt!: Date | null;
  @Field.TimeOrNull() readonly finishedAt!: Date | null;
  @Field.TimeOrNull('From when on it looks again; null: now.') readonly nextAt!: Date | null;
  @Field.ListOf(String, 'What is still looked at.') readonly waiting!: readonly string[];
  @Field.ListOf(FindingBody, 'So far, in the order of the report.')
  readonly findings!: FindingBody[];
}

/** The report of the doctor. Pages poll the route until the report is done. */
@Controller('api/operate/doctor')
@ForOperators('viewer')
export class DoctorController {
  constructor(private readonly doctor: DoctorService) {}

  @Get()
  @Operation('The last report, or the one under way', 'As far as it is.')
  @Answers(200, 'The report.', DoctorBody)
  report(): DoctorBody {
    return bodyOf(this.doctor.report());
  }

  @Post()
  @HttpCode(200)
  @ForOperators('operator')
  @Operation(
    'Look at everything',
    'Once a minute for all operators; before that the answer is the last report.',
  )
  @Answers(200, 'The report, as far as it is.', DoctorBody)
  look(): DoctorBody {
    this.doctor.start();
    return bodyOf(this.doctor.report());
  }
}

function bodyOf({ waiting, findings, ...times }: DoctorReport): DoctorBody {
  const ended = times.finishedAt === null ? 'running' : 'done';
  return {
    ...times,
    state: times.startedAt === null ? 'never' : ended,
    waiting,
    findings: findings.map(({ mend = null, ...finding }) => ({ ...finding, mend })),
  };
}
