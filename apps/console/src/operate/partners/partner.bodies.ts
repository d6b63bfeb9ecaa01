import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { type ListedCredential, type PartnerCallback } from '#libs/db';
import { PARTNER_CAPABILITIES, type PartnerCapability } from '#libs/domain';
import { Field } from '#libs/openapi';
import {
  callbackNotes,
  callbackValues,
  type FoundPartner,
  type IssuedCredential,
  type PingReport,
} from '#libs/operations';

const STANDINGS = ['open', 'paused', 'no-budget', 'no-callback'] as const;
type PartnerStanding = (typeof STANDINGS)[number];

@ApiSchema({ name: 'PartnerCredential' })
export class CredentialBody {
  @Field.Text('The beginning of the key; no more of it is stored.') readonly keyPrefix!: string;
  @Field.Time() readonly createdAt!: Date;
  @Field.TimeOrNull('To the minute.') readonly lastUsedAt!: Date | null;
  @Field.TimeOrNull() readonly revokedAt!: Date | null;
}

@ApiSchema({ name: 'PartnerCallback' })
export class CallbackBody {
  @Field.Text() readonly url!: string;
  @Field.Text('The beginning of X-API-KEY of our calls.') readonly keyPrefix!: string;
  @Field.Decimal() readonly usdPerPoint!: string;
  @Field.DigitsOrNull() readonly bonusFrom!: string | null;
  @Field.DecimalOrNull() readonly bonusRate!: string | null;
  @Field.DigitsOrNull() readonly minPoints!: string | null;
  @Field.DigitsOrNull() readonly maxPoints!: string | null;
  @Field.DecimalOrNull('Whole tokens in a UTC day.') readonly dailyTokenBudget!: string | null;
  @Field.Flag() readonly confirms!: boolean;

  @Field.ListOfWords(PARTNER_CAPABILITIES)
  readonly capabilities!: readonly PartnerCapability[];

  @ApiProperty({
    ...{ type: 'array', items: { type: 'string' } },
    description: 'What else is needed before it serves.',
  })
  readonly notes!: readonly string[];
}

@ApiSchema({ name: 'PartnerSummary' })
export class PartnerSummaryBody {
  @Field.Uuid() readonly id!: string;
  @Field.Text() readonly name!: string;
  @Field.OneOf(STANDINGS, 'Whether anything can be redeemed with it.')
  readonly standing!: PartnerStanding;
  @Field.Time() readonly createdAt!: Date;
  @Field.Count('Requests per second.') readonly rate!: number;
  @Field.Count('Requests at once.') readonly burst!: number;
  @Field.Text() readonly stakeSet!: string;
  @Field.Count() readonly activeCredentials!: number;
  @Field.TimeOrNull('Of any of its credentials.') readonly lastUsedAt!: Date | null;
}

@ApiSchema({ name: 'PartnerDetails' })
export class PartnerBody extends PartnerSummaryBody {
  @Field.ListOf(CredentialBody, 'Oldest first, the revoked ones too.')
  readonly credentials!: CredentialBody[];
  @Field.NestedOrNull(CallbackBody) readonly callback!: CallbackBody | null;
}

@ApiSchema({ name: 'PartnerList' })
export class PartnersBody {
  @Field.ListOf(PartnerSummaryBody, 'By name.') readonly items!: PartnerSummaryBody[];
  @Field.Next() readonly next!: string | null;
}

@ApiSchema({ name: 'IssuedCredential', description: 'Shown once: stored nowhere in the clear.' })
export class IssuedBody {
  @Field.Uuid() readonly partnerId!: string;
  @Field.Text() readonly apiKey!: string;
  @Field.Text() readonly sharedSecret!: string;
}

@ApiSchema({ name: 'RevokedCredential' })
export class RevokedBody {
  @Field.Text() readonly keyPrefix!: string;
  @Field.Count('Active ones that are left.') readonly left!: number;
}

@ApiSchema({ name: 'PingReport' })
export class PingBody {
  @Field.Flag() readonly good!: boolean;
  @Field.Text('What to mend.') readonly mend!: string;
  @Field.Text() readonly outcome!: string;
  @Field.Text() readonly requestId!: string;
  @Field.TextOrNull('What we signed; null where nothing was.')
  readonly signedContent!: string | null;
  @Field.Json('All of it, as `partner ping --json` has it.') readonly report!: object;
}

export function pingBody(report: PingReport): PingBody {
  const { good, mend, outcome, requestId, request } = report;
  return { good, mend, outcome, requestId, signedContent: request?.content ?? null, report };
}

/** Characters of a callback's key that answers show: enough to tell keys apart, as the key is secret too. */
const SHOWN_OF_KEY = 8;

export function partnerSummary({ partner, callback }: FoundPartner) {
  const {
    partnerId: id,
    partnerName: name,
    createdAt,
    rate,
    burst,
    stakeSet,
    credentials,
  } = partner;
  const used = credentials.flatMap(({ lastUsedAt }) => lastUsedAt?.getTime() ?? []);
  return {
    ...{ id, name, createdAt, rate, burst, stakeSet },
    standing: standingOf(callback),
    activeCredentials: credentials.filter(({ revokedAt }) => revokedAt === null).length,
    lastUsedAt: used.length === 0 ? null : new Date(Math.max(...used)),
  } satisfies PartnerSummaryBody;
}

function standingOf(callback: PartnerCallback | undefined): PartnerStanding {
  if (callback === undefined) return 'no-callback';
  if (callback.paused) return 'paused';
  return callback.dailyTokenBudget === undefined ? 'no-budget' : 'open';
}

export function partnerBody(found: FoundPartner): PartnerBody {
  const { partner, callback } = found;
  return {
    ...partnerSummary(found),
    credentials: partner.credentials.map(credentialBody),
    callback: callback === undefined ? null : callbackBody(callback),
  };
}

function credentialBody(credential: ListedCredential): CredentialBody {
  const { keyPrefix, createdAt, lastUsedAt, revokedAt } = credential;
  return { keyPrefix, createdAt, lastUsedAt, revokedAt };
}

function callbackBody(callback: PartnerCallback): CallbackBody {
  const { key, confirms, capabilities } = callback;
  const { bonusFrom = null, bonusRate = null, ...values } = callbackValues(callback);
  const { url = '', usdPerPoint = '', minPoints = null, maxPoints = null } = values;
  return {
    ...{ url, usdPerPoint, bonusFrom, bonusRate, minPoints, maxPoints },
    dailyTokenBudget: values.dailyTokenBudget ?? null,
    keyPrefix: key.length > 2 * SHOWN_OF_KEY ? `${key.slice(0, SHOWN_OF_KEY)}…` : '…',
    ...{ confirms, capabilities, notes: callbackNotes(callback) },
  };
}

export function issuedBody({ partnerId, apiKey, sharedSecret }: IssuedCredential): IssuedBody {
  return { partnerId, apiKey, sharedSecret };
}
