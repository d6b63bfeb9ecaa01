import { contractOf } from '../http/contract.js';
import {
  BAD_PARAMETER,
  INDEX_HEADERS,
  NO_STAKE_OR_CONTRACT,
} from '../snapshots/snapshots.contract.js';
import { HistoryAnswer } from './history.dto.js';

export const HistoryContract = contractOf({
  operationId: 'readStakingHistory',
  summary: 'What a wallet kept staked from its first stake on',
  description:
    'The intervals in which the balance did not change, oldest first, a page at a time: half-open, by the times of the blocks. Unknown query parameters are ignored.',
  answer: {
    description: 'A page, from one consistent state of the index.',
    headers: { 'X-Index-Block': INDEX_HEADERS['X-Index-Block'] },
    type: HistoryAnswer,
  },
  failures: {
    400: BAD_PARAMETER,
    404: NO_STAKE_OR_CONTRACT,
    503: ['SERVICE_UNAVAILABLE', 'The index is behind the chain, or the database does not answer.'],
  },
});
