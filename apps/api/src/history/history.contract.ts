import { applyDecorators } from '@nestjs/common';
import { ApiOperation, ApiResponse } from '@nestjs/swagger';
import { COMMON_HEADERS } from '../http/common-headers.js';
import {
  ACCEPT_SIGNATURE,
  failure,
  INDEX_HEADERS,
  RETRY_AFTER,
} from '../snapshots/snapshots.contract.js';
import { HistoryAnswer } from './history.dto.js';

/** What the contract says of `GET /api/staking/history`. */
export const HistoryContract = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      operationId: 'readStakingHistory',
      summary: 'What a wallet kept staked from its first stake on',
      description:
        'The intervals in which the balance did not change, oldest first, a page at a time: half-open, by the times of the blocks. Unknown query parameters are ignored.',
    }),
    ACCEPT_SIGNATURE,
    ApiResponse({
      status: 200,
      description: 'A page, from one consistent state of the index.',
      headers: { ...COMMON_HEADERS, 'X-Index-Block': INDEX_HEADERS['X-Index-Block'] },
      type: HistoryAnswer,
    }),
    failure(
      400,
      'BAD_REQUEST',
      'walletAddress, after, limit, contract or Accept-Signature is not as described.',
    ),
    failure(401, 'UNAUTHORIZED', 'X-API-KEY is missing or not valid.'),
    failure(
      404,
      ['NOT_FOUND', 'CONTRACT_NOT_FOUND'],
      'NOT_FOUND: the wallet never staked; the message names it. CONTRACT_NOT_FOUND: the contract is not indexed here.',
    ),
    failure(429, 'RATE_LIMIT_EXCEEDED', 'Too many requests.', RETRY_AFTER),
    failure(500, 'INTERNAL_SERVER_ERROR', 'An unexpected failure.'),
    failure(
      503,
      'SERVICE_UNAVAILABLE',
      'The index is behind the chain, or the database does not answer.',
      RETRY_AFTER,
    ),
  );
