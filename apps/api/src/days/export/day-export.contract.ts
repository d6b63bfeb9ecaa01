/** What the contract says of the lists of sealed days. */
import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiQuery, ApiResponse } from '@nestjs/swagger';
import { COMMON_HEADERS, integer } from '../../http/common-headers.js';
import { failure } from '../../snapshots/snapshots.contract.js';
import { ANYWHERE, CONTRACT, DAY, NOT_FOUND, NOT_SEALED } from '../days.contract.js';

const text = (description: string) => ({ description, schema: { type: 'string' } }) as const;

/** A list is sent while it is read: there is no digest of it. */
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
  ETag: text('Of this form of the list: strong, but weak where it is packed by gzip.'),
  'Cache-Control': text('Immutable where `revision` was given, else to be asked for again.'),
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
        'One range of bytes of the plain form; anything else is answered whole. With it the answer is not packed.',
      schema: { type: 'string' },
      example: 'bytes=1048576-',
    }),
    ApiHeader({
      name: 'If-Range',
      required: false,
      description: 'The ETag of the plain form: where it is another by now, the answer is whole.',
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
    NOT_FOUND(['REVISION_NOT_FOUND'], ' REVISION_NOT_FOUND: the day has no such revision.'),
    NOT_SEALED(),
    failure(
      410,
      'LIST_NOT_KEPT',
      'The day or the revision is too old: its root is kept, its list is not.',
    ),
    failure(416, 'RANGE_NOT_SATISFIABLE', 'The list has none of these bytes.', {
      'Content-Range': text('Such as bytes */4096.'),
    }),
    ANYWHERE('The database does not answer, or many lists are being sent.'),
  );
}

export const NdjsonContract = (): MethodDecorator =>
  list({
    operationId: 'exportSealedDayNdjson',
    mediaType: 'application/x-ndjson',
    line: 'A JSON object in each line, with blanks before its closing brace; low in the smallest unit of the token.',
    example: `{"walletAddress":"0x52908400098527886e0f7030069857d2e4169ee7","low":"1500" }\n`,
  });

export const CsvContract = (): MethodDecorator =>
  list({
    operationId: 'exportSealedDayCsv',
    mediaType: 'text/csv',
    line: 'The header walletAddress,low, then a line for each wallet; low in the smallest unit of the token, with zeros in front.',
    example: 'walletAddress,low\r\n0x52908400098527886e0f7030069857d2e4169ee7,01500\r\n',
  });
