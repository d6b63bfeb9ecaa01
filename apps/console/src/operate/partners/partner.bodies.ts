import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { decimalText, type ListedCredential, type PartnerCallback } from '#libs/db';
import { PARTNER_CAPABILITIES, type PartnerCapability } from '#libs/domain';
import { callbackNotes, type FoundPartner, type IssuedCredential } from '#libs/operations';
import {
  COUNT,
  DECIMAL,
  DECIMAL_OR_NULL,
  NEXT,
  TEXT,
  TEXT_OR_NULL,
  TIME,
  TIME_OR_NULL,
} from '../schema.js';

const STANDINGS = ['open', 'paused', 'no-budget', 'no-callback'] as const;
type PartnerStanding = (typeof STANDINGS)[number];
const DIGITS_OR_NULL = { type: String, pattern: '^[0-9]+$', nullable: true } as const;

@ApiSchema({ name: 'PartnerCredential' })
export class CredentialBody {
  @ApiProperty({ ...TEXT, description: 'The beginning of the key; no more of it is stored.' })
  readonly keyPrefix!: string;

  @ApiProperty(TIME)
  readonly createdAt!: string;

  @ApiProperty({ ...TIME_OR_NULL, description: 'To the minute.' })
  readonly lastUsedAt!: string | null;

  @ApiProperty(TIME_OR_NULL)
  readonly revokedAt!: string | null;
}

@ApiSchema({ name: 'PartnerCallback' })
export class CallbackBody {
  @ApiProperty(TEXT)
  readonly url!: string;

  @ApiProperty({ ...TEXT, description: 'The beginning of X-API-KEY of our calls.' })
  readonly keyPrefix!: string;

  @ApiProperty(DECIMAL)
  readonly usdPerPoint!: string;

  @ApiProperty(DIGITS_OR_NULL)
  readonly bonusFrom!: string | null;

  @ApiProperty(DECIMAL_OR_NULL)
  readonly bonusRate!: string | null;

  @ApiProperty(DIGITS_OR_NULL)
  readonly minPoints!: string | null;

  @ApiProperty(DIGITS_OR_NULL)
  readonly maxPoints!: string | null;

  @ApiProperty({ ...DECIMAL_OR_NULL, description: 'Whole tokens in a UTC day.' })
  readonly dailyTokenBudget!: string | null;

  @ApiProperty({ type: 'boolean' })
  readonly confirms!: boolean;

  @ApiProperty({ type: 'array', items: { type: 'string', enum: [...PARTNER_CAPABILITIES] } })
  readonly capabilities!: readonly PartnerCapability[];

  @ApiProperty({ type: 'array', items: TEXT, description: 'What else is needed before it serves.' })
  readonly notes!: readonly string[];
}

@ApiSchema({ name: 'PartnerSummary' })
export class PartnerSummaryBody {
  @ApiProperty({ type: 'string', format: 'uuid' })
  readonly id!: string;

  @ApiProperty(TEXT)
  readonly name!: string;

  @ApiProperty({ enum: STANDINGS, description: 'Whether anything can be redeemed with it.' })
  readonly standing!: PartnerStanding;

  @ApiProperty(TIME)
  readonly createdAt!: string;

  @ApiProperty({ ...COUNT, description: 'Requests per second.' })
  readonly rate!: number;

  @ApiProperty({ ...COUNT, description: 'Requests at once.' })
  readonly burst!: number;

  @ApiProperty(TEXT)
  readonly stakeSet!: string;

  @ApiProperty(COUNT)
  readonly activeCredentials!: number;

  @ApiProperty({ ...TIME_OR_NULL, description: 'Of any of its credentials.' })
  readonly lastUsedAt!: string | null;
}

@ApiSchema({ name: 'PartnerDetails' })
export class PartnerBody extends PartnerSummaryBody {
  @ApiProperty({ type: [CredentialBody], description: 'Oldest first, the revoked ones too.' })
  readonly credentials!: CredentialBody[];

  @ApiProperty({
    anyOf: [{ $ref: '#/components/schemas/PartnerCallback' }, { type: 'null' }],
  })
  readonly callback!: CallbackBody | null;
}

@ApiSchema({ name: 'PartnerList' })
export class PartnersBody {
  @ApiProperty({ type: [PartnerSummaryBody], description: 'By name.' })
  readonly items!: PartnerSummaryBody[];

  @ApiProperty(NEXT)
  readonly next!: string | null;
}

@ApiSchema({ name: 'IssuedCredential', description: 'Shown once: stored nowhere in the clear.' })
export class IssuedBody {
  @ApiProperty({ type: 'string', format: 'uuid' })
  readonly partnerId!: string;

  @ApiProperty(TEXT)
  readonly apiKey!: string;

  @ApiProperty(TEXT)
  readonly sharedSecret!: string;
}

@ApiSchema({ name: 'RevokedCredential' })
export class RevokedBody {
  @ApiProperty(TEXT)
  readonly keyPrefix!: string;

  @ApiProperty({ ...COUNT, description: 'Active ones that are left.' })
  readonly left!: number;
}

@ApiSchema({ name: 'PingReport' })
export class PingBody {
  @ApiProperty({ type: 'boolean' })
  readonly good!: boolean;

  @ApiProperty({ ...TEXT, description: 'What to mend.' })
  readonly mend!: string;

  @ApiProperty(TEXT)
  readonly outcome!: string;

  @ApiProperty(TEXT)
  readonly requestId!: string;

  @ApiProperty({ ...TEXT_OR_NULL, description: 'What we signed; null where nothing was.' })
  readonly signedContent!: string | null;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'All of it, as `partner ping --json` has it.',
  })
  readonly report!: object;
}

/** A key is its owner's secret too: as much of it as tells one from another. */
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
    ...{ id, name, rate, burst, stakeSet },
    standing: standingOf(callback),
    createdAt: createdAt.toISOString(),
    activeCredentials: credentials.filter(({ revokedAt }) => revokedAt === null).length,
    lastUsedAt: used.length === 0 ? null : new Date(Math.max(...used)).toISOString(),
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
  return {
    keyPrefix,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
  };
}

function callbackBody(callback: PartnerCallback): CallbackBody {
  const { url, key, usdPerPoint, bonus, minPoints, maxPoints, dailyTokenBudget } = callback;
  return {
    url,
    keyPrefix: key.length > 2 * SHOWN_OF_KEY ? `${key.slice(0, SHOWN_OF_KEY)}…` : '…',
    usdPerPoint: decimalText(usdPerPoint),
    bonusFrom: bonus?.fromPoints.toString() ?? null,
    bonusRate: bonus === undefined ? null : decimalText(bonus.rate),
    minPoints: minPoints?.toString() ?? null,
    maxPoints: maxPoints?.toString() ?? null,
    dailyTokenBudget: dailyTokenBudget === undefined ? null : decimalText(dailyTokenBudget),
    confirms: callback.confirms,
    capabilities: callback.capabilities,
    notes: callbackNotes(callback),
  };
}

export function issuedBody({ partnerId, apiKey, sharedSecret }: IssuedCredential): IssuedBody {
  return { partnerId, apiKey, sharedSecret };
}
