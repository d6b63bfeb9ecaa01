import { ApiSchema } from '@nestjs/swagger';
import { type OwnStanding } from '#libs/db';
import { Field } from '#libs/openapi';
import { KEY_PREFIX, LONGEST_OVERLAP_HOURS } from '#libs/operations';
import * as Input from '../http/inputs.js';

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

export function standingBody(own: OwnStanding, apiUrl: string, nowMs: number): StandingBody {
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
