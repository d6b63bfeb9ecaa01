import { Body, Controller, Get, HttpCode, Inject, Post, UseInterceptors } from '@nestjs/common';
import { ApiExtraModels, ApiSchema } from '@nestjs/swagger';
import { Database, MemberStore, type OwnStanding, readOwn } from '#libs/db';
import { Answers, Fails, Field, Operation } from '#libs/openapi';
import {
  audited,
  KEY_PREFIX,
  LONGEST_OVERLAP_HOURS,
  prepared,
  replaceCredential,
  RevokeCredential,
} from '#libs/operations';
import { CLOCK, type Clock } from '#libs/platform';
import { type ConsoleMember, CurrentMember, ForPartners, FreshSignIn } from '../auth/audience.js';
import { MemberLimit } from '../auth/member-limits.js';
import { ConsoleSettings } from '../console.env.js';
import * as Input from '../http/inputs.js';
import { Secrets } from '../secrets.module.js';
import { memberActor, OwnRows } from './own-rows.js';
import { REFUSALS } from './refusals.js';

@ApiSchema({ name: 'OwnCredential' })
export class CredentialBody {
  @Field.Text('The beginning of the key.') readonly keyPrefix!: string;
  @Field.Time() readonly createdAt!: Date;
  @Field.TimeOrNull('To the minute.') readonly lastUsedAt!: Date | null;
  @Field.TimeOrNull() readonly revokedAt!: Date | null;
  @Field.TimeOrNull('It was replaced, and works until then.') readonly endsAt!: Date | null;
  @Field.Flag('Whether it works now.') readonly isActive!: boolean;
}

@ApiSchema({ name: 'OwnCallback' })
export class CallbackBody {
  @Field.Text() readonly url!: string;
  @Field.Text('A decimal number, as are all amounts.') readonly usdPerPoint!: string;
  @Field.TextOrNull() readonly bonusFromPoints!: string | null;
  @Field.TextOrNull() readonly bonusRate!: string | null;
  @Field.TextOrNull() readonly minPoints!: string | null;
  @Field.TextOrNull() readonly maxPoints!: string | null;
  @Field.TextOrNull('Whole tokens in a UTC day.') readonly dailyTokenBudget!: string | null;
  @Field.Flag() readonly confirms!: boolean;
  @Field.ListOf(String) readonly capabilities!: readonly string[];
  @Field.Flag('No new redemptions are taken.') readonly paused!: boolean;
  @Field.Time() readonly updatedAt!: Date;
}

@ApiSchema({ name: 'OwnMember' })
export class MemberBody {
  @Field.Text('How they sign in, and as whom.') readonly subject!: string;
  @Field.Text() readonly name!: string;
  @Field.Time() readonly addedAt!: Date;
}

@ApiSchema({ name: 'OwnStanding' })
export class StandingBody {
  @Field.Uuid() readonly id!: string;
  @Field.Text() readonly name!: string;
  @Field.Whole('Requests per second in the long run.') readonly rate!: number;
  @Field.Whole('Requests at once after a pause.') readonly burst!: number;
  @Field.Time() readonly createdAt!: Date;
  @Field.Text('Where the api is reached.') readonly apiUrl!: string;
  @Field.NestedOrNull(CallbackBody) readonly callback!: CallbackBody | null;
  @Field.ListOf(CredentialBody, 'Newest first.') readonly credentials!: CredentialBody[];
  @Field.ListOf(MemberBody) readonly members!: readonly MemberBody[];
}

export class KeyDto {
  @Input.Matching(KEY_PREFIX, 'be the beginning of a key: svck_ and 1 to 7 more', {
    ...{ pattern: KEY_PREFIX.source, description: 'The beginning of the key.' },
  })
  readonly keyPrefix!: string;
}

@ApiSchema({ name: 'OwnRotation' })
export class RotationDto extends KeyDto {
  @Input.Whole(
    { minimum: 0, maximum: LONGEST_OVERLAP_HOURS },
    `be whole hours, 0 to ${LONGEST_OVERLAP_HOURS} (30 days)`,
  )
  readonly overlapHours!: number;
}

@ApiSchema({ name: 'OwnRevocation' })
export class RevocationDto extends KeyDto {
  @Input.Optional() @Input.Flag('Also the last one that lasts.') readonly force?: boolean;
}

@ApiSchema({ name: 'OwnIssuedCredential' })
export class IssuedBody {
  @Field.Text('Shown this once.') readonly apiKey!: string;
  @Field.Text('Shown this once.') readonly sharedSecret!: string;
  @Field.Text('The beginning of the key that it replaces.') readonly replaced!: string;
  @Field.Time('Until then the replaced one works.') readonly goodUntil!: Date;
}

@ApiSchema({ name: 'OwnRevoked' })
export class RevokedBody {
  @Field.Whole('Credentials that still work.') readonly left!: number;
}

@ApiSchema({ name: 'OwnMemberChoice' })
export class MemberChoice {
  @Input.TextUpTo(512, { maxLength: 512 }) readonly subject!: string;
}

/** The partner's own setup: its credentials, callback, limits and members. */
@Controller('api/partner')
@ForPartners()
@UseInterceptors(REFUSALS)
@ApiExtraModels(CallbackBody)
export class StandingController {
  constructor(
    private readonly rows: OwnRows,
    private readonly secrets: Secrets,
    private readonly members: MemberStore,
    private readonly database: Database,
    private readonly settings: ConsoleSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get('standing')
  @Operation('How the partner is set up', 'Credentials, callback, limits and members; no secret.')
  @Answers(200, 'The partner.', StandingBody)
  async standing(@CurrentMember() member: ConsoleMember): Promise<StandingBody> {
    const { apiUrl, publicApiUrl = apiUrl } = this.settings;
    const own = await this.rows.readOne(member, 'partner', readOwn);
    return standingBody(own, publicApiUrl, this.clock.nowMs());
  }

  @Post('credentials/rotate')
  @HttpCode(200)
  @FreshSignIn()
  @Operation(
    'Replace a credential',
    'The new one is shown once; the old one works for the hours that are chosen.',
  )
  @Answers(200, 'The new credential.', IssuedBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  @Fails(404, 'No active credential has this prefix.', 'CREDENTIAL_MISSING')
  @Fails(409, 'Several begin so, or too many work.', 'CREDENTIAL_AMBIGUOUS', 'TOO_MANY_CREDENTIALS')
  async rotate(
    @Body() { keyPrefix, overlapHours }: RotationDto,
    @CurrentMember() member: ConsoleMember,
  ): Promise<IssuedBody> {
    const { keyRing } = this.secrets;
    const operator = { actor: memberActor(member), command: 'partner rotate' };
    const given = { partner: member.partnerId, keyPrefix, overlapHours };
    const made = await replaceCredential(this.database, operator, given, keyRing);
    const { apiKey, sharedSecret } = made.issued;
    return { apiKey, sharedSecret, replaced: made.replaced, goodUntil: made.goodUntil };
  }

  @Post('credentials/revoke')
  @HttpCode(200)
  @MemberLimit('REVOKE')
  @FreshSignIn()
  @Operation(
    'Revoke a credential',
    'Within seconds it is no longer valid. The last one that lasts needs `force`.',
  )
  @Answers(200, 'It is revoked.', RevokedBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  @Fails(404, 'No active credential has this prefix.', 'CREDENTIAL_MISSING')
  @Fails(409, 'Several begin so, or it is the last.', 'CREDENTIAL_AMBIGUOUS', 'LAST_CREDENTIAL')
  async revoke(
    @Body() { keyPrefix, force = false }: RevocationDto,
    @CurrentMember() member: ConsoleMember,
  ): Promise<RevokedBody> {
    const revocation = prepared(RevokeCredential, { partner: member.partnerId, keyPrefix, force });
    const { database, clock, secrets } = this;
    const actor = memberActor(member);
    const context = { database, clock, actor, keyRing: () => secrets.keyRing };
    const { left } = await revocation.perform(context);
    return { left };
  }

  @Post('members/withdraw')
  @HttpCode(204)
  @MemberLimit('REVOKE')
  @FreshSignIn()
  @Operation(
    'Withdraw a member’s access',
    'One’s own, too. The sessions of that member end at once.',
  )
  @Answers(204, 'That person is no longer a member.')
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  @Fails(404, 'There is no such member.', 'MEMBER_MISSING')
  @Fails(409, 'No member would be left.', 'LAST_MEMBER')
  async withdraw(
    @Body() { subject }: MemberChoice,
    @CurrentMember() member: ConsoleMember,
  ): Promise<void> {
    const { partnerId: partner } = member;
    const note = { command: 'partner withdraw', arguments: { subject } };
    const actor = memberActor(member);
    const audit = { actor, note: { ...note, outcome: 'done' } };
    await audited(this.database, { actor, ...note }, { partner }, () =>
      this.members.withdraw(partner, subject, this.clock.nowMs(), audit),
    );
  }
}

function standingBody(own: OwnStanding, apiUrl: string, nowMs: number): StandingBody {
  const { partner, callback = null, credentials, members } = own;
  const { id, name, rate, burst, createdAt } = partner;
  return {
    ...{ id, name, rate, burst, createdAt, apiUrl, callback, members },
    credentials: credentials.map((one) => credentialBody(one, nowMs)),
  };
}

function credentialBody(one: OwnStanding['credentials'][number], nowMs: number): CredentialBody {
  const { keyPrefix, createdAt, lastUsedAt, revokedAt, endsAt } = one;
  const isActive = revokedAt === null && (endsAt === null || endsAt.getTime() > nowMs);
  return { keyPrefix, createdAt, lastUsedAt, revokedAt, endsAt, isActive };
}
