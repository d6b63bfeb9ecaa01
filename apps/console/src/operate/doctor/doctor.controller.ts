import { Controller, HttpCode, Inject, Post } from '@nestjs/common';
import { ApiSchema } from '@nestjs/swagger';
import { type SettingsSource } from '#libs/config';
import { examine, type FindingState } from '#libs/doctor';
import { Answers, Field, Operation } from '#libs/openapi';
import { CLOCK, type Clock } from '#libs/platform';
import { ForOperators } from '../../auth/audience.js';
import { SETTINGS_SOURCE } from '../../console.env.js';

const FINDING_STATES = ['ok', 'warning', 'fault', 'not-checked'] as const;
/** Time limit of one check. They run at the same time, and the page waits 30 s for the report. */
const CHECK_MS = 25_000;

@ApiSchema({ name: 'Finding' })
class FindingBody {
  @Field.Text('What was looked at.') readonly what!: string;
  @Field.OneOf(FINDING_STATES) readonly state!: FindingState;
  @Field.Text() readonly found!: string;
  @Field.TextOrNull('What to do about it.') readonly mend!: string | null;
}

@ApiSchema({ name: 'DoctorReport' })
class DoctorBody {
  @Field.Time() readonly finishedAt!: Date;
  @Field.ListOf(FindingBody) readonly findings!: FindingBody[];
}

/** The report of `doctor`, with the settings of the console. */
@Controller('api/operate/doctor')
export class DoctorController {
  private running: Promise<DoctorBody> | undefined;

  constructor(
    @Inject(SETTINGS_SOURCE) private readonly source: SettingsSource,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Post()
  @HttpCode(200)
  @ForOperators('operator')
  @Operation('Look at everything', 'The answer takes up to half a minute.')
  @Answers(200, 'The report.', DoctorBody)
  look(): Promise<DoctorBody> {
    // A run costs calls to the providers, so requests at the same time share one.
    this.running ??= this.examine().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  private async examine(): Promise<DoctorBody> {
    const found = await examine(this.source, this.clock, { timeoutMs: CHECK_MS });
    const findings = found.map(({ mend = null, ...finding }) => ({ ...finding, mend }));
    return { finishedAt: new Date(this.clock.nowMs()), findings };
  }
}
