/** Pure functions without any import, which the service's domain shares. */
export {
  ERROR_CODES,
  type ErrorCode,
  type Json,
  partnerId,
  type Step,
  STEPS,
  transactionIdIn,
} from './answer-form.js';
export { bodyForm, type BodyForm } from './body-form.js';
export { type CallEnd, findingOf, findingsOf } from './find.js';
export {
  explain,
  type Explanation,
  type Finding,
  type FindingCode,
  type FindingRule,
  type NoAnswerCode,
  type NotSentCode,
} from './findings.js';
export {
  type AskedCall,
  believableJson,
  type Doubt,
  isCompressed,
  isErrorCode,
  isSettling,
  judgeAnswer,
  type Judgement,
  type Reply,
  type SettlingCode,
} from './judge-answer.js';
