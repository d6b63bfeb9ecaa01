import { Controller, Get, Inject, Query } from '@nestjs/common';
import { ApiSchema } from '@nestjs/swagger';
import { Matches } from 'class-validator';
import { Answers, Fails, Field, Operation } from '#libs/openapi';
import { KEY_PREFIX } from '#libs/operations';
import { CLOCK, type Clock } from '#libs/platform';
import { HttpProblem } from '#libs/service';
import { mintGrant } from '#libs/signing';
import { type ConsoleMember, CurrentMember, ForPartners } from '../auth/audience.js';
import { MemberLimit } from '../auth/member-limits.js';
import { ConsoleSettings } from '../console.env.js';
import * as Input from '../http/inputs.js';
import { Secrets } from '../secrets.module.js';
import { askApi } from './api-request.js';
import { baseString, BaseStringBody, verifies } from './base-string.js';
import { OwnSecrets } from './own-secrets.js';

const PATH = '/api/staking/snapshots';
const GRANT_MS = 15_000;

/** The parameters are checked for length only, since the page also shows how the api answers a mistake. */
export class SnapshotQueryDto {
  @Field.Text('The beginning of the key that asks.')
  @Matches(KEY_PREFIX, { message: '$property must be the beginning of one of your keys.' })
  readonly keyPrefix!: string;

  @Input.TextUpTo(200, { maxLength: 200 })
  readonly walletAddress!: string;

  @Input.TextUpTo(20, { maxLength: 20 })
  readonly lastDays!: string;

  @Input.Optional()
  @Input.TextUpTo(20, {
    maxLength: 20,
    description: 'The last day of the window, UTC; without it the day before the request.',
  })
  readonly endDay?: string;

  @Input.Optional()
  @Input.TextUpTo(200, { maxLength: 200, description: 'CAIP-10.' })
  readonly contract?: string;
}

@ApiSchema({ name: 'AnswerHeader' })
export class HeaderBody {
  @Field.Text() readonly name!: string;
  @Field.Text() readonly value!: string;
}

@ApiSchema({ name: 'SnapshotAnswer' })
export class SnapshotAnswerBody {
  @Field.Text('The request target.') readonly target!: string;
  @Field.Whole() readonly status!: number;
  @Field.ListOf(HeaderBody, 'As they came, in their order.') readonly headers!: HeaderBody[];
  @Field.Text('Byte for byte.') readonly body!: string;
  @Field.Nested(BaseStringBody) readonly baseString!: BaseStringBody;
  @Field.TextOrNull('X-API-SIGNATURE.') readonly signature!: string | null;
  @Field.Flag() readonly verifies!: boolean;
  @Field.Whole('Milliseconds.') readonly durationMs!: number;
  @Field.Text('The same request by hand; the key is not in it.') readonly curl!: string;
}

/**
 * A snapshot as the partner's own code would get it. The console sends a real request to the api, with a short-lived
 * grant that stands for the partner's key.
 */
@Controller('api/partner/snapshot')
@ForPartners()
export class SnapshotController {
  constructor(
    private readonly own: OwnSecrets,
    private readonly secrets: Secrets,
    private readonly settings: ConsoleSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get()
  @MemberLimit('API')
  @Operation(
    'A snapshot as your code would get it',
    'A real request, which counts for your limits and is in the log of requests.',
  )
  @Answers(200, 'The answer of the api, whatever its status.', SnapshotAnswerBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  @Fails(404, 'No credential has this prefix.', 'CREDENTIAL_MISSING')
  @Fails(409, 'The credential is no longer valid.', 'CREDENTIAL_ENDED')
  async ask(
    @Query() { keyPrefix, ...asked }: SnapshotQueryDto,
    @CurrentMember() member: ConsoleMember,
  ): Promise<SnapshotAnswerBody> {
    const credential = await this.own.find(member, keyPrefix);
    if (!credential.isActive) {
      const message = 'This credential is no longer valid: choose another one.';
      throw new HttpProblem(409, message, { code: 'CREDENTIAL_ENDED' });
    }
    const target = `${PATH}?${new URLSearchParams(given(asked)).toString()}`;
    const { apiUrl, publicApiUrl = apiUrl } = this.settings;
    const untilMs = this.clock.nowMs() + GRANT_MS;
    const grant = mintGrant(this.secrets.keyRing, credential.keyHash, untilMs);
    const answer = await askApi(apiUrl, target, grant);
    const { status, headers, body, durationMs } = answer;
    const found = headers.find(({ name }) => name.toLowerCase() === 'x-api-signature');
    const signature = found?.value ?? null;
    const answered = { method: 'GET', target, body, isWhole: true };
    return {
      ...{ target, status, headers: [...headers], body: body.toString('utf8'), durationMs },
      ...{ baseString: baseString(answered), signature },
      verifies: verifies(answered, this.own.open(credential), signature ?? '') === true,
      curl: curlOf(publicApiUrl + target, keyPrefix),
    };
  }
}

/** The query, in the order of the api's documentation. */
function given({
  walletAddress,
  lastDays,
  endDay,
  contract,
}: Omit<SnapshotQueryDto, 'keyPrefix'>): Record<string, string> {
  return {
    ...{ walletAddress, lastDays },
    ...(endDay !== undefined && { endDay }),
    ...(contract !== undefined && { contract }),
  };
}

/** The request as a shell command. The target is percent-encoded and contains no quote. */
function curlOf(url: string, keyPrefix: string): string {
  return `curl -sS -i -H "X-API-KEY: $STAKING_API_KEY" '${url}'  # STAKING_API_KEY=${keyPrefix}…`;
}
