/** OpenAPI contract of sealed days, of their proofs and of their lists. */
import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiParam, ApiQuery, ApiResponse } from '@nestjs/swagger';
import {
  ACCEPT_SIGNATURE,
  COMMON_HEADERS,
  contractOf,
  type Failure,
  failures,
  integer,
} from '../http/contract.js';
import { BAD_PARAMETER } from '../snapshots/snapshots.contract.js';
import { ASKED_CONTRACT, ASKED_WALLET } from '../snapshots/snapshots.dto.js';
import { DayProofAnswer, SealedDayOfSetAnswer, SealedDaysAnswer } from './days.dto.js';

const CONTRACT = ApiQuery({
  name: 'contract',
  required: false,
  description: ASKED_CONTRACT.description,
  schema: { type: 'string', pattern: ASKED_CONTRACT.pattern },
});

const DAY = ApiParam({
  name: 'day',
  description: 'A UTC day of the calendar.',
  schema: { type: 'string', format: 'date' },
  example: '2026-11-21',
});

/** @param codes further codes of status 404, explained by `description` */
const notFound = (codes: readonly string[] = [], description = ''): Failure => [
  ['DAY_NOT_FOUND', 'CONTRACT_NOT_FOUND', ...codes],
  `DAY_NOT_FOUND: before the first day of the contract. CONTRACT_NOT_FOUND: the contract is not indexed here.${description}`,
];

/** @param codes further codes of status 409, explained by `description` */
const notSealed = (codes: readonly string[] = [], description = ''): Failure => [
  ['DAY_NOT_OVER', 'DAY_NOT_SEALED', ...codes],
  `The day is not over, or not final and verified yet: Retry-After says when to ask again.${description}`,
];

const unavailable = (
  description = 'The database does not answer.',
  codes: readonly string[] = [],
): Failure => [['SERVICE_UNAVAILABLE', ...codes], description];

export const DaysContract = contractOf({
  operationId: 'listSealedDays',
  summary: 'The sealed days, the newest first',
  description:
    'Of each UTC day that is final the root of a Merkle tree over the low-water marks of all wallets. A sealed day never changes; one that came out differently later has another revision.',
  parameters: [
    ApiQuery({
      name: 'before',
      required: false,
      description: 'Only days before this one: `next` of the page before.',
      schema: { type: 'string', format: 'date' },
    }),
    ApiQuery({
      name: 'limit',
      required: false,
      description: 'Days in a page.',
      schema: { type: 'integer', minimum: 1, maximum: 366, default: 31 },
    }),
    CONTRACT,
  ],
  answer: { description: 'A page of days.', type: SealedDaysAnswer },
  failures: {
    400: BAD_PARAMETER,
    404: ['CONTRACT_NOT_FOUND', 'The contract is not indexed here.'],
    503: unavailable(),
  },
});

export const DayContract = contractOf({
  operationId: 'readSealedDay',
  summary: 'One sealed day',
  description: 'In its newest revision.',
  parameters: [DAY, CONTRACT],
  answer: { description: 'The day.', type: SealedDayOfSetAnswer },
  failures: { 400: BAD_PARAMETER, 404: notFound(), 409: notSealed(), 503: unavailable() },
});

export const ProofContract = contractOf({
  operationId: 'proveSealedDay',
  summary: 'A proof of what a wallet kept staked on a sealed day',
  description:
    'The leaf that tells of the wallet, its own or the one that encloses it, and the nodes that lead to the root: for MerkleProof of OpenZeppelin, or the SnapshotRegistry.',
  parameters: [
    DAY,
    ApiQuery({
      name: 'walletAddress',
      required: true,
      description: ASKED_WALLET.description,
      schema: { type: 'string', pattern: ASKED_WALLET.pattern },
    }),
    CONTRACT,
  ],
  answer: { description: 'The proof.', type: DayProofAnswer },
  failures: {
    400: BAD_PARAMETER,
    404: notFound(),
    409: notSealed(
      ['DAY_REVISION_DUE'],
      ' DAY_REVISION_DUE: of an older day, whose root the index no longer gives.',
    ),
    410: ['PROOF_NOT_KEPT', 'An older day, of more wallets than proofs are computed for.'],
    503: unavailable(
      'The database does not answer. PROOF_NOT_READY: an older day, whose tree is computed again: ask again after Retry-After.',
      ['PROOF_NOT_READY'],
    ),
  },
});

const text = (description: string) => ({ description, schema: { type: 'string' } }) as const;

/** Common headers of a list. A list is sent while it is read, so it has no digest. */
const COMMON = Object.fromEntries(
  Object.entries(COMMON_HEADERS).filter(([name]) => name !== 'Content-Digest'),
);

const HEADERS_OF_LIST = {
  ...COMMON,
  'X-API-SIGNATURE': {
    ...COMMON_HEADERS['X-API-SIGNATURE'],
    description:
      'HMAC-SHA256 of METHOD + PATH + the value of X-Sealed-Day under the shared secret, lower-case hex; of HEAD too.',
  },
  'X-Sealed-Day': text(
    'What GET /api/staking/days/{day} answers of this day and revision, in canonical JSON: the list has to lead to its root.',
  ),
  ETag: text('Of this form of the list: strong, but weak if it is compressed by gzip.'),
  'Cache-Control': text('Immutable if `revision` was given, else to be asked for again.'),
  Vary: text('Accept-Encoding.'),
  'Accept-Ranges': text('bytes.'),
} as const;

const LENGTH = { description: 'Absent with gzip.', schema: integer(0) } as const;

interface Listed {
  readonly operationId: string;
  readonly mediaType: string;
  readonly line: string;
  readonly example: string;
}

function list({ operationId, mediaType, line, example }: Listed): MethodDecorator {
  const content = { [mediaType]: { schema: { type: 'string' as const }, example } };
  return applyDecorators(
    ApiOperation({
      operationId,
      summary: 'All wallets with a low-water mark above zero on a sealed day',
      description: `${line} Ascending by wallet, all lines of a day of one length. It weighs as one request for each 10,000 wallets that are sent, at most as the whole limit. A list that ends early is cut off; the rest is there by Range.`,
    }),
    DAY,
    ApiQuery({
      name: 'revision',
      required: false,
      description: 'Only this one. Without it the newest.',
      schema: integer(1),
    }),
    CONTRACT,
    ApiHeader({
      name: 'Range',
      required: false,
      description:
        'One range of bytes of the plain form; anything else is answered whole. With it the answer is not compressed.',
      schema: { type: 'string' },
      example: 'bytes=1048576-',
    }),
    ApiHeader({
      name: 'If-Range',
      required: false,
      description: 'The ETag of the plain form: if it is another by now, the answer is whole.',
      schema: { type: 'string' },
    }),
    ApiResponse({
      status: 200,
      description: 'The list.',
      headers: { ...HEADERS_OF_LIST, 'Content-Length': LENGTH },
      content,
    }),
    ApiResponse({
      status: 206,
      description: 'The bytes that were asked for.',
      headers: {
        ...HEADERS_OF_LIST,
        'Content-Length': LENGTH,
        'Content-Range': text('Such as bytes 0-1023/4096.'),
      },
      content,
    }),
    ApiResponse({
      status: 304,
      description: 'If-None-Match names the list as it is.',
      headers: HEADERS_OF_LIST,
    }),
    ACCEPT_SIGNATURE,
    failures({
      400: BAD_PARAMETER,
      404: notFound(['REVISION_NOT_FOUND'], ' REVISION_NOT_FOUND: the day has no such revision.'),
      409: notSealed(),
      410: [
        'LIST_NOT_KEPT',
        'The day or the revision is too old: its root is kept, its list is not.',
      ],
      416: [
        'RANGE_NOT_SATISFIABLE',
        'The list has none of these bytes.',
        { 'Content-Range': text('Such as bytes */4096.') },
      ],
      503: unavailable('The database does not answer, or many lists are being sent.'),
    }),
  );
}

export const NdjsonContract = list({
  operationId: 'exportSealedDayNdjson',
  mediaType: 'application/x-ndjson',
  line: 'A JSON object in each line, with blanks before its closing brace; low in the smallest unit of the token.',
  example: `{"walletAddress":"0x52908400098527886e0f7030069857d2e4169ee7","low":"1500" }\n`,
});

export const CsvContract = list({
  operationId: 'exportSealedDayCsv',
  mediaType: 'text/csv',
  line: 'The header walletAddress,low, then a line for each wallet; low in the smallest unit of the token, with zeros in front.',
  example: 'walletAddress,low\r\n0x52908400098527886e0f7030069857d2e4169ee7,01500\r\n',
});
