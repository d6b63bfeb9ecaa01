/** The bodies of the contract, as JSON Schema. */

const NUMBER = { type: 'number', minimum: 0 };
const COUNT = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const TIME = { type: 'string', format: 'date-time' };
const TIME_OR_NULL = { type: ['string', 'null'], format: 'date-time' };
const UUID = { type: 'string', pattern: '^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$' };
const ADDRESS = { type: 'string', pattern: '^0x[0-9a-f]{40}$' };
const DIGITS = { type: 'string', pattern: '^[0-9]+$' };
const HEX = { type: 'string', pattern: '^0x[0-9a-f]+$' };

type Properties = Readonly<Record<string, object>>;

/** An object that has all of these; others may be added. */
function all(properties: Properties): { type: string; required: string[]; properties: Properties } {
  return { type: 'object', required: Object.keys(properties), properties };
}

const PARTNER_NAME = all({ id: UUID, name: { type: 'string' } });

export const SCHEMAS = {
  Nonce: all({
    nonce: { type: 'string', pattern: '^[0-9a-z]{32}$', description: 'Good once.' },
    expiresAt: TIME,
  }),
  SignedMessage: all({
    message: { type: 'string', description: 'An EIP-4361 message, exactly as it was signed.' },
    signature: { type: 'string', pattern: '^0x(?:[0-9a-fA-F]{2})+$' },
  }),
  Session: all({
    token: { type: 'string', pattern: '^svct_[A-Za-z0-9_-]{43}$', description: 'Shown once.' },
    wallet: ADDRESS,
    expiresAt: TIME,
  }),
  Partner: all({
    ...PARTNER_NAME.properties,
    paused: { type: 'boolean', description: 'No new redemptions for now.' },
    usdPerPoint: NUMBER,
    bonus: {
      ...all({ fromPoints: COUNT, rate: NUMBER }),
      type: ['object', 'null'],
      description: 'More tokens from a number of points on: a rate of 0.02 is 2 %.',
    },
    minPoints: { ...COUNT, type: ['integer', 'null'] },
    maxPoints: { ...COUNT, type: ['integer', 'null'] },
  }),
  Partners: all({
    partners: { type: 'array', items: { $ref: '#/components/schemas/Partner' } },
  }),
  Points: all({
    partner: PARTNER_NAME,
    wallet: ADDRESS,
    points: COUNT,
    chain: { type: 'string', description: 'As the partner names it.' },
  }),
  NewRedemption: all({
    partner: {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      description: 'Id or name, in any capitals.',
    },
    points: { ...COUNT, minimum: 1 },
  }),
  Redemption: all({
    id: UUID,
    partner: PARTNER_NAME,
    wallet: ADDRESS,
    points: COUNT,
    usdAmount: NUMBER,
    tokens: { ...NUMBER, description: 'Whole tokens, rounded once to a double.' },
    tokenAmount: { ...DIGITS, description: 'Exact, in the token’s smallest unit.' },
    priceUsd: { ...NUMBER, description: 'US dollars for one token; frozen with the rest.' },
    status: { enum: ['initial', 'pending', 'claimed', 'reverted', 'failed'] },
    stage: {
      enum: [
        'created',
        'deducting',
        'deducted',
        'authorised',
        'reverting',
        'claimed',
        'reverted',
        'failed',
        'attention',
      ],
    },
    reason: { type: ['string', 'null'], description: 'Why, where it is not the course of things.' },
    cancelRequested: { type: 'boolean' },
    quoteExpiresAt: TIME,
    initialAt: TIME,
    pendingAt: TIME_OR_NULL,
    deductedAt: TIME_OR_NULL,
    authorisedAt: TIME_OR_NULL,
    claimedAt: TIME_OR_NULL,
    revertedAt: TIME_OR_NULL,
    failedAt: TIME_OR_NULL,
    payableUntil: {
      ...TIME_OR_NULL,
      description:
        'The voucher’s deadline, until the redemption is final: unclaimed, the points go back once a final block is later. Null before there was a voucher.',
    },
    txnHash: { ...HEX, type: ['string', 'null'], description: 'Of the final claim.' },
    voucher: {
      anyOf: [{ $ref: '#/components/schemas/Voucher' }, { type: 'null' }],
      description: 'In stage authorised, unless it is to be cancelled.',
    },
  }),
  Voucher: all({
    chainId: { type: 'integer', minimum: 1 },
    vault: { ...ADDRESS, description: 'Where the transaction goes.' },
    redemptionId: { type: 'string', pattern: '^0x[0-9a-f]{64}$' },
    recipient: { ...ADDRESS, description: 'Is paid, whoever sends the transaction.' },
    amount: { ...DIGITS, description: 'In the token’s smallest unit.' },
    deadline: { type: 'integer', description: 'Unix seconds; the last block time that pays.' },
    signature: { type: 'string', pattern: '^0x[0-9a-f]{130}$' },
    calldata: { ...HEX, description: 'The data of the transaction that claims it.' },
  }),
  Redemptions: all({
    redemptions: { type: 'array', items: { $ref: '#/components/schemas/Redemption' } },
    next: { ...UUID, type: ['string', 'null'], description: '`before` of the next page.' },
  }),
  Error: {
    ...all({
      success: { const: false },
      code: { type: 'string' },
      message: { type: 'string', description: 'For people; its wording may change.' },
    }),
    description: 'May have `field` as well: which part of the request is wrong.',
  },
};

export type SchemaName = keyof typeof SCHEMAS;
